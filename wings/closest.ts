/** For the command line, which loads no engine unless somebody misspells a name. */
export { closest } from '../lib/closest.js'

/** For the command line: it loads this only if a name is misspelt, since the engine is loaded with
 *  it. */
export { closest } from '../closest.js'

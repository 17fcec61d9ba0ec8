/** JSON as text: scripts/build/rolldown.config.mjs says how. */
declare module '*.json?raw' {
  const json: string
  export default json
}

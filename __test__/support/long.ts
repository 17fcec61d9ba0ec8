/** Returns the tags of a test that takes long over many cases: `npm test` takes one in twelve. */
export const longForMost = <T>(all: readonly T[], one: T) => (all.indexOf(one) % 12 === 0 ? [] : ['long'])

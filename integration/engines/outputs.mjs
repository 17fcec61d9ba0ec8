/** Returns the output of a number: most are small, one in ten takes several chunks. */
export function outputOf(number) {
  const lines = number % 10 === 0 ? 20_000 + number : number % 900
  return Array.from({ length: lines }, (_, at) => `output ${number}, line ${at} of ${lines}\n`).join('')
}

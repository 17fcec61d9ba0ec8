/** Joins parts into a string with its own memory. A slice, or a string made of slices, keeps its
 *  parent in memory. */
export function joined(head: string, mid: string, tail: string): string {
  const parts = Number(head !== '') + Number(mid !== '') + Number(tail !== '')
  return parts === 1 ? alone(head || mid || tail) : [head, mid, tail].join('')
}

/** Copies a string into its own memory. */
export function alone(text: string): string {
  return ` ${text}`.slice(1)
}

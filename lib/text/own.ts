/** Joins parts into a string of its own. A slice, or a string made of slices, would keep all of its parent in memory. */
export function joined(head: string, mid: string, tail: string): string {
  const parts = Number(head !== '') + Number(mid !== '') + Number(tail !== '')
  return parts === 1 ? alone(head || mid || tail) : [head, mid, tail].join('')
}

/** The same text in memory of its own. */
export function alone(text: string): string {
  return ` ${text}`.slice(1)
}

import { dialectsAsJson } from './dialects.js'
import { native } from './engine.js'

let isGiven = false

/** Gives the engine the table of dialects, before it reads a session or pairs calls. */
export function giveDialects(): void {
  if (!isGiven) native.setDialects(dialectsAsJson)
  isGiven = true
}

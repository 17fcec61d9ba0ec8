import { byType, mapped, oneOf, WHOLE } from './kinds.js'
import { objectOf, required, Table } from './option_table.js'

/** Bytes of JSON that 'cap' keeps of each copy. */
const CAP = 8_192

/** The treatment of side data. */
interface SideData {
  readonly sideData: 'keep' | 'cap' | 'drop'
  readonly maxSideBytes: number
}

export const SIDE = new Table({ maxBytes: required(WHOLE, { unit: 'bytes' }) })

export const KEPT: SideData = { sideData: 'keep', maxSideBytes: CAP }

export const SIDE_DATA = byType<SideData>("'keep', 'cap', 'drop' or { maxBytes }", {
  string: mapped(oneOf('keep', 'cap', 'drop'), (sideData) => ({ sideData, maxSideBytes: CAP })),
  object: mapped(objectOf(SIDE), ({ maxBytes }) => ({ sideData: 'cap', maxSideBytes: maxBytes })),
})

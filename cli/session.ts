import { Mistake } from './mistake.js'

const KNOWN = 'give one in JSONL, of Pi, OpenClaw up to 7, Claude Code, or messages'

export function noSession(file: string): Mistake {
  return new Mistake(`${file}: no session that is known (format unknown); ${KNOWN}`, 1)
}

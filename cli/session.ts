import { Mistake } from './mistake.js'

const KNOWN = 'expected JSONL from Pi, OpenClaw up to 7 or Claude Code, or messages'

export function noSession(file: string): Mistake {
  return new Mistake(`${file}: unrecognised session format (format unknown); ${KNOWN}`, 1)
}

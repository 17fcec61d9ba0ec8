import { subscribe } from 'node:diagnostics_channel'
import { join } from 'node:path'
import type { ClampEvent } from 'spillway'
import { digest, record } from './record.js'

/** Events that measure a result before and after. */
const SHORTER: readonly ClampEvent['action'][] = ['cut', 'cleared']

/** Records every cut of this process. The command line records its own, so it is skipped here. */
export function follow(): void {
  if (require.main?.filename === join(__dirname, '../cli.js')) return
  const session = digest(process.pid, Date.now())
  subscribe('spillway:clamp', (event) => {
    const { action, tool = '', phase, total, kept, applied = true } = event as ClampEvent
    if (phase === 'update' || !SHORTER.includes(action)) return
    const [shown, sent] = [total.chars, kept.chars]
    record({ door: 'library', session, tool, shown, sent, ...(applied ? { cut: true } : { observed: true }) })
  })
}

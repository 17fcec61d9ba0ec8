import { subscribe } from 'node:diagnostics_channel'
import { join } from 'node:path'
import type { ClampEvent } from 'spillway'
import { digest, record } from './record.js'

/** Records every cut of this process. The command line records its own, so it is skipped here. */
export function follow(): void {
  if (require.main?.filename === join(__dirname, '../cli.js')) return
  const session = digest(process.pid, Date.now())
  subscribe('spillway:clamp', (event) => {
    const { tool = '', phase, total, kept, media } = event as ClampEvent
    if (phase === 'update' || media) return
    record({ door: 'library', session, tool, shown: total.chars, sent: kept.chars, cut: true })
  })
}

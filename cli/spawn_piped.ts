import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import { native } from '../lib/engine.js'
import { platform } from './platform.js'

/**
 * Starts a command with real pipes for its output, as a shell does. The pipes of Node are sockets,
 * which a command cannot open by name: `echo failed > /dev/stderr` fails with them.
 */
export function spawnPiped(command: string, args: readonly string[]): ChildProcess {
  if (!platform.namesPipes) return spawn(command, args, { stdio: ['inherit', 'pipe', 'pipe'] })
  const pipes = [native.openPipe(), native.openPipe()] as [number, number][]
  const [stdout, stderr] = pipes.map(([from]) => new Socket({ fd: from, readable: true, writable: false }))
  try {
    const [out, err] = pipes.map(([, to]) => to)
    return Object.assign(spawn(command, args, { stdio: ['inherit', out, err] }), { stdout, stderr })
  } catch (error) {
    for (const stream of [stdout, stderr]) stream?.destroy()
    throw error
  } finally {
    // The pipes end with the command's output only if no one else holds them open.
    for (const [, to] of pipes) closeSync(to)
  }
}

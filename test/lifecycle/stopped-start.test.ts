import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { closingAfterEach } from '../builders/closing.ts'
import { ENV, MAIN } from '../builders/paths.ts'
import { TIMED, until } from '../builders/time.ts'

/* A gateway that is stopped while it waits for a database that accepts connections and is silent. */

const closing = closingAfterEach()

/** A server that closes the first connections at once, and answers nothing on the others. */
async function silentServer(closed: number): Promise<{ readonly port: number; readonly seen: Set<Socket> }> {
  const seen = new Set<Socket>()
  const server = createServer(socket => {
    seen.add(socket.on('error', () => {}))
    if (seen.size <= closed) socket.destroy()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    for (const socket of seen) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, seen }
}

/** Returns the state of a process and its parent. A zombie has ended. */
function statusOf(pid: number | string): { readonly isAlive: boolean; readonly parent?: number } {
  try {
    const [, state, parent] = /\) (\S) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))!
    return { isAlive: state !== 'Z', parent: Number(parent) }
  } catch {
    return { isAlive: false }
  }
}

const childrenOf = (pid: number): readonly string[] =>
  readdirSync('/proc').filter(name => /^\d+$/.test(name) && statusOf(name).parent === pid)

test.skipIf(process.platform !== 'linux').each([
  ['one process', 1, 1],
  ['a primary process', 2, 1],
  ['workers', 2, 2],
] as const)('%s: a start that waits for a silent database ends at once', TIMED, async (_, count, connections) => {
  const dir = mkdtempSync(join(tmpdir(), 'stopped-start-'))
  closing.push(() => rmSync(dir, { recursive: true, force: true }))
  const { port, seen } = await silentServer(connections - 1)
  writeFileSync(
    join(dir, 'interlingua.json'),
    JSON.stringify({
      server: { port: 0, workers: count, drain: '0s', grace: '1s' },
      store: `postgres://u@127.0.0.1:${port}/d`,
      keys: [{ name: 'dev', key: 'key-of-the-stopped-start' }],
    }),
  )
  const child: ChildProcess = spawn(process.execPath, [MAIN], { cwd: dir, env: ENV })
  closing.push(() => child.kill('SIGKILL'))
  await until(() => seen.size >= connections, 60_000)
  const workers = childrenOf(child.pid!)
  const ended = new Promise<number | null>(resolve => child.once('exit', resolve))
  const start = performance.now()
  child.kill('SIGTERM')
  // A process that a signal ends by itself would ignore it as the first one of a container.
  expect(await ended).toBe(0)
  expect(performance.now() - start).toBeLessThan(4000)
  await until(() => !workers.some(worker => statusOf(worker).isAlive), 5000)
})

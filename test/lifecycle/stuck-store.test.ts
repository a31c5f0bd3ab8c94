import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { ENV, MAIN } from '../builders/paths.ts'
import { freshDatabase, noPostgres } from '../builders/postgres.ts'
import { until } from '../builders/time.ts'

/* A gateway that stops while its database neither answers nor closes the connection. */

const running: ChildProcess[] = []
const closing: (() => void)[] = []
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
  for (const close of closing.splice(0)) close()
})

/** Forwards connections to a port until it falls silent, as behind a firewall that drops packets. */
async function relayTo(port: number) {
  const sockets = new Set<Socket>()
  let isSilent = false
  const server = createServer(socket => {
    const other = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [socket, other],
      [other, socket],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('data', chunk => {
        if (!isSilent) to.write(chunk)
      })
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, silence: () => (isSilent = true) }
}

test.skipIf(noPostgres)('a database that falls silent does not keep the gateway from ending', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'stuck-store-'))
  closing.push(() => rmSync(dir, { recursive: true, force: true }))
  const url = new URL((await freshDatabase()).url)
  const relay = await relayTo(Number(url.port))
  url.port = String(relay.port)
  const key = 'key-of-the-stuck-store'
  writeFileSync(
    join(dir, 'interlingua.json'),
    JSON.stringify({
      ...{ server: { port: 0, drain: '0s', grace: '1s' }, store: url.href, keys: [{ name: 'dev', key }] },
      channels: [
        {
          name: 'up',
          provider: 'custom',
          base_url: 'http://127.0.0.1:9/v1',
          formats: ['chat'],
          key: 'k',
          models: ['m'],
        },
      ],
    }),
  )
  const child = spawn(process.execPath, [MAIN], { cwd: dir, env: ENV })
  running.push(child)
  let out = ''
  child.stdout.on('data', piece => (out += piece))
  await until(() => /listens on \S+/.test(out), 60_000)
  const address = /listens on (\S+)/.exec(out)![1]!
  const ask = () =>
    fetch(`${address}/v1/chat/completions`, {
      ...{ method: 'POST', headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' } },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }),
    }).then(answer => answer.text())
  await ask()
  relay.silence()
  await ask()
  const ended = new Promise<number | null>(resolve => child.once('exit', resolve))
  const start = performance.now()
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
  expect(performance.now() - start).toBeLessThan(25_000)
})

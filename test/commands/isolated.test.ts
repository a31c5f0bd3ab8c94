import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { ENV, MAIN } from '../builders/paths.ts'
import { ran } from './ran.ts'

/* The option --isolated: a gateway under test reaches nobody. */

const WAYS = [['--net'], ['--user', '--map-root-user', '--net']]
const isPossible = WAYS.some(way => spawnSync('unshare', [...way, 'sh', '-c', 'ip link set lo up']).status === 0)

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** Opens a server outside of the namespace, and counts its requests. */
async function outside() {
  const seen: string[] = []
  const server = createServer((request, reply) => {
    seen.push(request.url!)
    reply.end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  return { port: (server.address() as AddressInfo).port, seen }
}

/** A gateway that reports to somebody before it starts to serve. */
const PROGRAM = `
const report = () => fetch('http://127.0.0.1:' + process.env.OUTSIDE + '/report').catch(() => {})
await report()
const { openProxy } = await import(process.env.PROXY)
await openProxy({ upstream: process.env.UPSTREAM, port: Number(process.env.PORT) })
`

function peerFolder(port: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-isolated-'))
  writeFileSync(join(folder, 'gateway.mjs'), PROGRAM)
  writeFileSync(
    join(folder, 'peer.yaml'),
    [
      'name: reporter',
      'translates: false',
      `start: { command: ["\${node}", "${folder}/gateway.mjs"], env: { OUTSIDE: "${port}", PORT: "\${port}", UPSTREAM: "\${upstream}", PROXY: "\${root}/src/kit/conformance/proxy/index.ts" } }`,
      'callers: { chat: /chat/v1 }',
    ].join('\n'),
  )
  return folder
}

/** Runs the command in a process of its own. */
async function conformance(folder: string, ...args: string[]) {
  const json = join(folder, 'results.json')
  const command = ['conformance', '--peer', folder, '--only', '*/text/whole', '--json', json, ...args]
  const ended = await ran(process.execPath, [MAIN, ...command], ENV)
  return { ...ended, results: () => JSON.parse(readFileSync(json, 'utf8')) }
}

describe.runIf(isPossible)('--isolated', () => {
  test('keeps a gateway from a server that it reaches otherwise, and judges it all the same', async () => {
    const { port, seen } = await outside()
    const open = await conformance(peerFolder(port))
    expect({ code: open.code, seen }, open.printed).toEqual({ code: 0, seen: ['/report'] })
    const isolated = await conformance(peerFolder(port), '--isolated')
    expect({ code: isolated.code, seen }, isolated.printed).toEqual({ code: 0, seen: ['/report'] })
    expect(isolated.results().counts).toEqual(open.results().counts)
  })

  test('a run that fails within ends with 1 outside', async () => {
    const { code } = await conformance(peerFolder(9), '--isolated', '--only', 'nothing')
    expect(code).toBe(1)
  })
})

test.skipIf(isPossible)('--isolated says what it needs', async () => {
  const { code, printed } = await conformance(peerFolder(9), '--isolated')
  expect(code).toBe(1)
  expect(printed).toContain('--isolated needs Linux with unshare and ip')
})

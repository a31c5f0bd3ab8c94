import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@redis/client'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { commandLine } from '../../src/commands/command-line.ts'
import { initCommand } from '../../src/commands/init.ts'
import { readConfig } from '../../src/config/read.ts'
import { freePort } from '../../src/kit/conformance/free-port.ts'
import { Certificates, hasOpenssl } from '../builders/certificate.ts'
import { accepts, describeWithRedis, RedisServer } from '../builders/redis.ts'

/** An upstream of chat that accepts one key, and whose clock is wrong by an hour. */
const upstream = (): Server =>
  createServer((message, response) => {
    const isKnown = message.headers.authorization === 'Bearer right'
    const date = new Date(Date.now() - 3_600_000).toUTCString()
    response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json', date })
    const answer = { choices: [{ index: 0, message: { role: 'assistant', content: 'p' }, finish_reason: 'length' }] }
    const body = message.url === '/v1/models' ? { data: [{ id: 'small' }] } : answer
    response.end(JSON.stringify(isKnown ? body : { error: { message: 'Incorrect API key provided: wro*****.' } }))
  })

describe('doctor', () => {
  let folder: string
  const server = upstream()
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'doctor-'))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })

  const examined = async (config: object) => {
    const file = join(folder, 'config.json')
    writeFileSync(file, JSON.stringify({ data_dir: join(folder, 'data'), ...config }))
    let out = ''
    const write = (text: string): void => void (out += `${text}\n`)
    const code = await commandLine(['--config', file, 'doctor'], { out: write, fault: write })
    return { code, out }
  }
  const channel = (name: string, key: string, more: object = {}) => ({
    ...{ name, provider: 'custom', formats: ['chat'], key, models: ['small'] },
    ...{ base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, ...more },
  })

  describeWithRedis('Redis', () => {
    test.each<[string, readonly string[], readonly (readonly string[])[], string, RegExp]>([
      ['answers', [], [], '', /^ok +redis: it answers$/m],
      ['is full', [], [['CONFIG', 'SET', 'maxmemory', '1']], '', /^fault +redis: OOM .*\n +raise `maxmemory`/m],
      [
        'is one of several shards',
        ['--cluster-enabled', 'yes'],
        // The other half of the slots belongs to a node that is unknown here.
        [
          ['CLUSTER', 'ADDSLOTSRANGE', '0', '8191'],
          ['CONFIG', 'SET', 'cluster-require-full-coverage', 'no'],
        ],
        '',
        /^fault +redis: CLUSTERDOWN .*\n +use a primary, or a cluster of one shard/m,
      ],
      [
        'lets its user use keys only',
        [],
        [['ACL', 'SETUSER', 'few', 'on', '>p/w', '~interlingua:*', '+@all', 'resetchannels']],
        'few:p%2Fw@',
        /^fault +redis: NOPERM .*\n +let the user run scripts/m,
      ],
      [
        'knows another password',
        [],
        [['CONFIG', 'SET', 'requirepass', 'x']],
        'default:y@',
        /^fault +redis: WRONGPASS /m,
      ],
    ])('that %s', async (_, options, commands, user, expected) => {
      const redis = await RedisServer.open(...options)
      const client = createClient({ url: redis.url })
      try {
        await client.connect()
        for (const words of commands) await client.sendCommand(words)
        const { out } = await examined({
          redis: redis.url.replace('//', `//${user}`),
          channels: [channel('good', 'right')],
        })
        expect(out).toMatch(expected)
      } finally {
        client.destroy()
        await redis.close()
      }
    })

    test.skipIf(!hasOpenssl)('that has TLS, with a certificate of an authority that nobody knows', async () => {
      const certificates = new Certificates()
      const { cert, key } = certificates.make('redis')
      const port = await freePort()
      const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert]
      const redis = await RedisServer.open(...files, '--tls-auth-clients', 'no', '--tls-port', String(port))
      try {
        for (const [url, expected] of [
          [`rediss://127.0.0.1:${port}`, /^fault +redis: DEPTH_ZERO_SELF_SIGNED_CERT\n +set NODE_EXTRA_CA_CERTS/m],
          [`redis://127.0.0.1:${port}`, /^fault +redis: .*\n +check host and port, and write `rediss:`/m],
          [redis.url.replace('redis:', 'rediss:'), /^fault +redis: .*\n +check host and port, and write `rediss:`/m],
        ] as const)
          expect((await examined({ redis: url, channels: [channel('good', 'right')] })).out).toMatch(expected)
      } finally {
        await redis.close()
        certificates.close()
      }
    })

    test('that is watched by a Sentinel, whose own address serves no counts', async () => {
      const redis = await RedisServer.open()
      const port = await freePort()
      const file = join(folder, 'sentinel.conf')
      writeFileSync(file, `bind 127.0.0.1\nport ${port}\nsentinel monitor main 127.0.0.1 ${redis.port} 1\n`)
      const sentinel = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' })
      try {
        await vi.waitFor(async () => expect(await accepts(port)).toBe(true), 10_000)
        const { out } = await examined({ redis: `redis://127.0.0.1:${port}`, channels: [channel('good', 'right')] })
        expect(out).toMatch(/^fault +redis: ERR unknown command .*\n +use the address of the primary.* Sentinel/m)
      } finally {
        sentinel.kill('SIGKILL')
        await redis.close()
      }
    })
  })

  test('names the refused key, the dead address, the unlisted model and the wrong clock, and what to do', async () => {
    const { code, out } = await examined({
      channels: [
        channel('good', 'right'),
        channel('refused', 'wrong'),
        channel('dead', 'right', { base_url: 'http://127.0.0.1:1/v1' }),
        channel('unlisted', 'right', { models: ['small', 'large'] }),
      ],
    })
    expect(code).toBe(1)
    expect(out).toMatch(/^ok +store: /m)
    expect(out).toMatch(/^ok +channel good: small answers in \d+ ms; 1 model listed$/m)
    expect(out).toMatch(/^warning +channel good: its clock differs from this machine's by 3[56]\d\d s$/m)
    expect(out).toMatch(/^fault +channel refused: .*\(status 401\)\n +check the channel's key/m)
    expect(out).toMatch(/^fault +channel dead: .*\n +check `base_url`/m)
    expect(out).toMatch(/^warning +channel unlisted: the upstream does not list large$/m)
    expect(out).not.toContain('right')
  })

  test('names faulty fields of the config, and a store that cannot be opened', async () => {
    const faulty = await examined({ channels: [{ name: 'a', provider: 'nobody' }] })
    expect(faulty.code).toBe(1)
    expect(faulty.out).toMatch(/^fault +config: [\s\S]*channels\[0\].provider/m)
    const closed = await examined({ store: 'postgres://nobody@127.0.0.1:1/none', channels: [channel('good', 'right')] })
    expect(closed.code).toBe(1)
    expect(closed.out).toMatch(/^fault +store: /m)
  })

  test('what an upstream says moves no cursor and forges no line', async () => {
    const hostile = createServer((_, response) =>
      response.writeHead(400, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          error: { message: 'no\u001b[2J\nok       channel good: fine', type: 'invalid_request_error' },
        }),
      ),
    )
    await new Promise<void>(resolve => hostile.listen(0, '127.0.0.1', resolve))
    const { port } = hostile.address() as AddressInfo
    const { out } = await examined({ channels: [channel('bad', 'right', { base_url: `http://127.0.0.1:${port}/v1` })] })
    hostile.close()
    expect(out).toMatch(/^fault +channel bad: no/m)
    expect(out).not.toMatch(/^ok +channel/m)
    expect(out).not.toContain('\u001b')
  })

  test('the built-in provider needs no test', async () => {
    const { code, out } = await examined({ channels: [{ name: 'demo', provider: 'replay' }] })
    expect([code, out.includes('channel')]).toEqual([0, false])
  })
})

test.each([
  [{}, ['replay']],
  [{ OPENAI_API_KEY: 'a', GEMINI_API_KEY: 'b', AZURE_OPENAI_API_KEY: 'c' }, ['openai', 'google']],
])('init writes a valid config from %j', (env: { readonly [name: string]: string }, channels) => {
  const folder = mkdtempSync(join(tmpdir(), 'init-'))
  const file = join(folder, 'interlingua.yaml')
  const terminal = { out: vi.fn<(text: string) => void>(), fault: vi.fn<(text: string) => void>() }
  initCommand(file, terminal, env)
  const config = readConfig(readFileSync(file, 'utf8'), env)
  expect(config.channels.map(({ name }) => name)).toEqual(channels)
  expect(config.groups.get('default')?.limits.rpm).toBe(600)
  const told = terminal.out.mock.calls.join('\n')
  expect(told.includes('AZURE_OPENAI_API_KEY is unused')).toBe('AZURE_OPENAI_API_KEY' in env)
  expect(readFileSync(file, 'utf8')).not.toContain('key: a')
  expect(() => initCommand(file, terminal, env)).toThrow('exists')
  rmSync(folder, { recursive: true })
})

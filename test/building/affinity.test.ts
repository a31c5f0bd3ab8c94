import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, createServer, type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { bundleIfStale } from '../../building/bundle.ts'
import { jsonOf, textOf } from '../builders/http.ts'
import { MAIN } from '../builders/paths.ts'
import { until } from '../builders/time.ts'

/*
 * 200 agent sessions through a gateway from its bundle, over HTTP, before a provider that caches the prompts of each
 * account: two channels of two keys. The gateway restarts after four turns; the provider refuses one key from the
 * eighth on.
 */

const [SESSIONS, TURNS, RESTART, REFUSED] = [200, 12, 4, 8]
/** Requests in flight. */
const LANES = 12
/** Tokens of a message. */
const TOKENS = 500
const KEY = 'il-test-of-affinity'
const CHANNELS = ['one', 'two']
const keysOf = (name: string): string[] => ['aaaa', 'bbbb'].map(end => `key-of-${name}-of-two-${end}`)
const LOST = keysOf('one')[0]!

interface Said {
  readonly role: string
  readonly content: string
}

/** The provider: knows the prompts that each key has sent, up to every message. */
class Provider {
  readonly prompts = new Map<string, Set<string>>()
  refuses = false
  readonly server: Server = createServer(async (message, response) => {
    const key = String(message.headers.authorization).replace('Bearer ', '')
    const { messages } = jsonOf(await textOf(message)) as { messages: readonly Said[] }
    response.setHeader('content-type', 'application/json')
    if (this.refuses && key === LOST) {
      response.writeHead(401).end('{"error":{"message":"Incorrect API key.","type":"invalid_request_error"}}')
      return
    }
    response.end(JSON.stringify(this.answer(key, messages)))
  })

  private answer(key: string, messages: readonly Said[]): object {
    const known = this.prompts.get(key) ?? new Set()
    this.prompts.set(key, known)
    const hash = createHash('sha1')
    let cached = 0
    messages.forEach((one, at) => {
      const prefix = hash.update(JSON.stringify(one)).copy().digest('hex')
      if (known.has(prefix)) cached = at + 1
      known.add(prefix)
    })
    const usage = { prompt_tokens: messages.length * TOKENS, completion_tokens: 1, total_tokens: 0 }
    return {
      ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Next.' } }],
      usage: { ...usage, prompt_tokens_details: { cached_tokens: cached * TOKENS } },
    }
  }
}

const provider = new Provider()
const agent = new Agent({ keepAlive: true, maxSockets: LANES })
const folder = mkdtempSync(join(tmpdir(), 'affinity-'))
const running: ChildProcess[] = []

beforeAll(async () => {
  vi.stubEnv('INTERLINGUA_BUNDLE', undefined)
  await bundleIfStale()
  await new Promise<void>(resolve => provider.server.listen(0, '127.0.0.1', resolve))
  const { port } = provider.server.address() as AddressInfo
  const channels = CHANNELS.map(name => ({
    ...{ name, provider: 'custom', formats: ['chat'], models: ['m'], keys: keysOf(name) },
    base_url: `http://127.0.0.1:${port}/${name}/v1`,
  }))
  const config = { keys: [{ name: 'k', key: KEY }], groups: { default: { models: ['*'] } }, channels }
  writeFileSync(join(folder, 'interlingua.json'), JSON.stringify(config))
}, 240_000)

afterAll(async () => {
  vi.unstubAllEnvs()
  agent.destroy()
  await Promise.all(running.map(stop))
  provider.server.closeAllConnections()
  await new Promise(resolve => provider.server.close(resolve))
  rmSync(folder, { recursive: true })
})

async function serve(): Promise<string> {
  const child = spawn(process.execPath, [MAIN, 'serve', '--port', '0'], {
    cwd: folder,
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running.push(child)
  let out = ''
  child.stdout.on('data', piece => (out += piece))
  await until(() => /listens on \S+\n/.test(out), 60_000)
  return /listens on (\S+)/.exec(out)![1]!
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGINT')
  await ended
}

/** The prompt of a session at a turn, as an agent sends it: the same beginning, and two messages more each time. */
const promptOf = (session: number, turn: number): Said[] => [
  { role: 'system', content: 'Work in small steps.' },
  { role: 'user', content: `Task ${session}` },
  ...Array.from({ length: turn }, (_, at) => [
    { role: 'assistant', content: 'Next.' },
    { role: 'user', content: `Result ${at}` },
  ]).flat(),
]

/** Sends one turn and returns the cached tokens. */
async function ask(address: string, messages: readonly Said[]): Promise<number> {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(`${address}/v1/chat/completions`, { method: 'POST', agent, headers })
      .on('response', resolve)
      .on('error', reject)
      .end(JSON.stringify({ model: 'm', messages }))
  })
  // biome-ignore lint/suspicious/noExplicitAny: the answer of a chat completion
  const body = jsonOf(await textOf(answer)) as any
  expect(answer.statusCode, JSON.stringify(body)).toBe(200)
  return body.usage.prompt_tokens_details.cached_tokens
}

/** Sends a turn of all sessions, a few at a time, in an order that differs between turns. */
async function askAll(address: string, turn: number): Promise<number> {
  const sessions = Array.from({ length: SESSIONS }, (_, at) => (at * 7 + turn * 13) % SESSIONS)
  let cached = 0
  const lane = async (): Promise<void> => {
    for (let next = sessions.pop(); next !== undefined; next = sessions.pop()) {
      const found = await ask(address, promptOf(next, turn))
      cached += found
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return cached
}

test('200 sessions keep 95 % of their cached tokens, through a restart and the loss of a key', async () => {
  let address = await serve()
  let [cached, possible] = [0, 0]
  for (let turn = 0; turn < TURNS; turn++) {
    if (turn === RESTART) {
      await stop(running.at(-1)!)
      address = await serve()
    }
    provider.refuses ||= turn === REFUSED
    const found = await askAll(address, turn)
    // All sessions share their system text, which the first turn may find cached.
    if (turn === 0) continue
    cached += found
    possible += SESSIONS * promptOf(0, turn - 1).length * TOKENS
  }
  if (process.env['SHOW'] !== undefined) console.info({ share: cached / possible })
  expect(cached / possible).toBeGreaterThanOrEqual(0.95)
  const used = [...provider.prompts.keys()].sort()
  expect(used).toEqual(CHANNELS.flatMap(keysOf))
}, 120_000)

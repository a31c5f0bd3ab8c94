import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { bundleIfStale } from '../../building/bundle.ts'
import { ENV, MAIN } from '../builders/paths.ts'
import { until } from '../builders/time.ts'

/** Environments in which the program runs from its bundle, and from its sources. */
const SIDES = { bundle: { PATH: process.env['PATH'] }, sources: { ...ENV, INTERLINGUA_BUNDLE: 'off' } }

type Side = keyof typeof SIDES

const KEY = 'il-test-of-the-bundle'
const folders: string[] = []
const running: ChildProcess[] = []

beforeAll(async () => {
  vi.stubEnv('INTERLINGUA_BUNDLE', undefined)
  await bundleIfStale()
}, 240_000)

afterAll(async () => {
  vi.unstubAllEnvs()
  const ended = running.map(child => new Promise(resolve => child.once('exit', resolve)))
  for (const child of running) child.kill('SIGINT')
  await Promise.all(ended)
  for (const folder of folders) rmSync(folder, { recursive: true })
})

function folderWith(config: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'bundle-'))
  folders.push(folder)
  const whole = { keys: [{ name: 'k', key: KEY }], groups: { default: { models: ['*'] } }, ...config }
  writeFileSync(join(folder, 'interlingua.json'), JSON.stringify(whole))
  return folder
}

/** Starts a gateway with the built-in upstream, and returns its address. */
async function serve(side: Side, config: object = {}): Promise<string> {
  const flags = ['--max-semi-space-size=16', '--no-allocation-site-pretenuring']
  const child = spawn(process.execPath, [...flags, MAIN, 'serve', '--port', '0'], {
    cwd: folderWith({ channels: [{ name: 'replay', provider: 'replay', models: ['*'] }], ...config }),
    env: SIDES[side],
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running.push(child)
  let out = ''
  child.stdout.on('data', piece => (out += piece))
  await until(() => /listens on \S+\n/.test(out), 60_000)
  return /listens on (\S+)/.exec(out)![1]!
}

/** Removes the values that differ between two requests. */
const settled = (text: string): string =>
  text
    .replace(
      /"(id|created|created_at|completed_at|responseId|item_id|request_id|instance)":\s*("[^"]*"|\d+)/g,
      '"$1":0',
    )
    .replace(/(127\.0\.0\.1):\d+/g, '$1')

const json = (path: string, body: object): [string, RequestInit] => [
  path,
  { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
]

const SAID = { model: 'replay', messages: [{ role: 'user', content: 'Say hello.' }] }

/**
 * Requests that need files beside the program, packages outside of the bundle, and every module that is loaded late.
 */
const REQUESTS: readonly [string, RequestInit?][] = [
  ['/healthz'],
  ['/readyz'],
  ['/metrics'],
  ['/v1/models'],
  ['/v1beta/models'],
  json('/v1/chat/completions', SAID),
  json('/v1/chat/completions', { ...SAID, stream: true }),
  json('/v1/messages', { ...SAID, max_tokens: 100 }),
  json('/v1/messages/count_tokens', { ...SAID, model: 'other' }),
  json('/v1/responses', { model: 'replay', input: 'Say hello.' }),
  json('/v1beta/models/replay:generateContent', { contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }] }),
  json('/v1/audio/speech', { model: 'replay', voice: 'alloy', input: 'hello', response_format: 'mp3' }),
  json('/v1/realtime/client_secrets', { session: { type: 'unknown' } }),
  json('/v1/chat/completions', { model: 'replay', messages: 1 }),
  ['/v1/chat/completions', { method: 'POST', body: '{' }],
  ['/v1/nowhere'],
  ['/v1/%ff'],
  ['/console/'],
  ['/console/nothing.js'],
  ['/admin/v1/keys'],
  ['/admin/openapi.json'],
]

async function answersOf(address: string): Promise<readonly object[]> {
  const answers: object[] = []
  for (const [path, init] of REQUESTS) {
    const headers = { 'x-api-key': KEY, 'anthropic-version': '2023-06-01', ...(init?.headers as object) }
    const answer = await fetch(`${address}${path}`, { redirect: 'manual', ...init, headers })
    const type = answer.headers.get('content-type')
    const body = settled(await answer.text())
    answers.push({ path, status: answer.status, type, body })
  }
  return answers
}

describe('a gateway from its bundle', () => {
  test('answers as one from its sources does, and shows nobody its files', async () => {
    const [bundle, sources] = await Promise.all([serve('bundle'), serve('sources')])
    const answers = await answersOf(bundle)
    expect(answers).toEqual(await answersOf(sources))
    expect(JSON.stringify(answers)).not.toMatch(/\.cjs|dist\/|at \w+ \(/)
    expect(answers.filter(one => 'status' in one && one.status === 200).length).toBeGreaterThanOrEqual(10)
  })

  test('opens sockets', async () => {
    const address = await serve('bundle')
    const socket = new WebSocket(`${address.replace('http', 'ws')}/v1/realtime?model=replay&key=${KEY}`)
    const first = await new Promise((resolve, reject) => {
      socket.onmessage = ({ data }) => resolve(JSON.parse(String(data)))
      socket.onerror = () => reject(new Error('it is refused'))
    })
    socket.close()
    expect(first).toMatchObject({ type: 'session.created' })
  })

  test('has workers', async () => {
    const address = await serve('bundle', { server: { workers: 2 } })
    const [path, init] = json('/v1/chat/completions', SAID)
    const answer = await fetch(`${address}${path}`, { ...init, headers: { authorization: `Bearer ${KEY}` } })
    expect(await answer.json()).toMatchObject({ object: 'chat.completion' })
  })
})

const COMMANDS = [
  ['--version'],
  ['--help'],
  ['check'],
  ['check', '--schema'],
  ['examples'],
  ['usage'],
  ['keys', 'list'],
  ['groups', 'list'],
  ['console', 'users'],
  ['admin', 'tokens'],
  ['nothing'],
]

test.each(COMMANDS)('the command says the same: %s %s', async (...words) => {
  const cwd = folderWith({})
  const said = async (side: Side): Promise<object> => {
    const ran = promisify(execFile)(process.execPath, [MAIN, ...words.filter(word => word !== undefined)], {
      cwd,
      env: SIDES[side],
    })
    return ran.then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
    )
  }
  expect(await said('bundle')).toEqual(await said('sources'))
})

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { MAIN } from '../builders/paths.ts'
import { FakeUpstream } from '../builders/upstream.ts'

/* The commands of docs/record-replay.md, run as written but for the upstream and the ports. */

const COMMANDS = [...readFileSync('docs/record-replay.md', 'utf8').matchAll(/^interlingua (.+)$/gm)].map(([, words]) =>
  words!.split(' '),
)

const execute = promisify(execFile)

const running: ChildProcess[] = []
afterEach(() => {
  for (const one of running.splice(0)) one.kill('SIGKILL')
})

interface Started {
  readonly process: ChildProcess
  readonly url: string
  /** The line that ends with the URL. */
  readonly line: string
}

/** Starts a command and waits for the URL that it prints. */
async function started(words: readonly string[], cwd: string): Promise<Started> {
  const child = spawn(process.execPath, [MAIN, ...words], { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  running.push(child)
  const line = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout!.on('data', chunk => {
      text += String(chunk)
      if (URL_AT_END.test(text)) resolve(text)
    })
    child.once('exit', () => reject(new Error(`${words.join(' ')} ended: ${text}`)))
  })
  return { process: child, url: URL_AT_END.exec(line)![1]!, line }
}

const URL_AT_END = /(http:\/\/127\.0\.0\.1:\d+)\s*$/

const withValue = (words: readonly string[], option: string, value: string): string[] =>
  words.map((word, index) => (words[index - 1] === option ? value : word))

test('the documented commands record a call and replay it', { timeout: 60_000 }, async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'documented-'))
  const upstream = await FakeUpstream.open(response => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end('{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"}}]}')
  })
  const [record, replay] = COMMANDS as [string[], string[]]
  expect([record[0], replay[0]]).toEqual(['record', 'replay'])
  const ask = async (url: string): Promise<unknown> => {
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] })
    return (await fetch(`${url}/v1/chat/completions`, { method: 'POST', body })).json()
  }
  const recorder = await started(
    withValue(withValue(record, '--port', '0'), '--upstream', `${upstream.address}/v1`),
    cwd,
  )
  const answer = await ask(recorder.url)
  recorder.process.kill('SIGTERM')
  expect(await once(recorder.process, 'exit')).toEqual([0, null])
  await upstream.close()
  expect(readdirSync(join(cwd, 'recordings'))).toEqual([expect.stringMatching(/^chat-hello-[0-9a-f]{8}\.json$/)])
  const other = replay.map(word => (word === '--port' ? '--listen' : word))
  const replayer = await started([...withValue(other, '--listen', '0'), '--strict'], cwd)
  expect(replayer.line).toMatch(/^Serving 1 recording from recordings on /)
  expect(await ask(replayer.url)).toEqual(answer)
  replayer.process.kill('SIGTERM')
  expect(await once(replayer.process, 'exit')).toEqual([0, null])
})

test('a replay at the recorded speed ends at once, although a caller waits for a slow answer', {
  timeout: 60_000,
}, async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'slow-'))
  const head = { version: 1, program: 'test', recorded_at: '2026-11-29T00:00:00.000Z' }
  const slow = {
    ...{ ...head, request: { method: 'POST', path: '/slow', headers: {} } },
    answer: { status: 200, headers: {}, ms: 90_000, complete: true },
  }
  const session = {
    ...{ ...head, request: { method: 'GET', path: '/session', headers: {} } },
    session: { frames: [{ ms: 90_000, from: 'upstream', text: 'late' }] },
  }
  for (const [index, one] of [slow, session].entries()) writeFileSync(join(cwd, `${index}.json`), JSON.stringify(one))
  const replayer = await started(['replay', cwd, '--port', '0', '--timing', 'real'], cwd)
  const socket = new WebSocket(`${replayer.url.replace('http', 'ws')}/session`)
  await once(socket, 'open')
  socket.on('error', () => {})
  const asked = fetch(`${replayer.url}/slow`, { method: 'POST' }).catch(() => {})
  await new Promise(resolve => setTimeout(resolve, 200))
  replayer.process.kill('SIGTERM')
  const exited = once(replayer.process, 'exit')
  expect(await Promise.race([exited, new Promise(resolve => setTimeout(resolve, 20_000, 'still running'))])).toEqual([
    ...[0, null],
  ])
  await asked
})

test('both commands name their port alike, and the help names the default timing', async () => {
  const { stdout: record } = await execute(process.execPath, [MAIN, 'record', '--help'])
  const { stdout: replay } = await execute(process.execPath, [MAIN, 'replay', '--help'])
  for (const help of [record, replay]) expect(help).toContain('--port <port>')
  expect(replay).toMatch(/--timing <speed> .*\(default: fast\)/)
})

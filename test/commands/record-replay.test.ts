import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { MAIN } from '../builders/paths.ts'
import { FakeUpstream } from '../builders/upstream.ts'

/* The commands of docs/record-replay.md, run as written but for the upstream and the ports. */

const COMMANDS = [...readFileSync('docs/record-replay.md', 'utf8').matchAll(/^interlingua (.+)$/gm)].map(([, words]) =>
  words!.split(' '),
)

const running: ChildProcess[] = []
afterEach(() => {
  for (const one of running.splice(0)) one.kill('SIGKILL')
})

/** Starts a command and waits for the URL that it prints. */
async function started(words: readonly string[], cwd: string): Promise<{ process: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [MAIN, ...words], { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  running.push(child)
  const url = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout!.on('data', chunk => {
      text += String(chunk)
      const found = /(http:\/\/127\.0\.0\.1:\d+)\s*$/.exec(text)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.once('exit', () => reject(new Error(`${words.join(' ')} ended: ${text}`)))
  })
  return { process: child, url }
}

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
    withValue(withValue(record, '--listen', '0'), '--upstream', `${upstream.address}/v1`),
    cwd,
  )
  const answer = await ask(recorder.url)
  recorder.process.kill('SIGTERM')
  expect(await once(recorder.process, 'exit')).toEqual([0, null])
  await upstream.close()
  expect(readdirSync(join(cwd, 'recordings'))).toEqual([expect.stringMatching(/^chat-hello-[0-9a-f]{8}\.json$/)])
  const replayer = await started([...withValue(replay, '--port', '0'), '--strict'], cwd)
  expect(await ask(replayer.url)).toEqual(answer)
  replayer.process.kill('SIGTERM')
  expect(await once(replayer.process, 'exit')).toEqual([0, null])
})

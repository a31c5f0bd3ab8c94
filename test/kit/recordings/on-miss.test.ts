import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseFaults } from '../../../src/kit/recordings/faults.ts'
import { type FiledRecording, readFolder } from '../../../src/kit/recordings/folder.ts'
import { openReplay, type Replay, type ReplayOptions } from '../../../src/kit/recordings/replay-server.ts'
import { FakeUpstream } from '../../builders/upstream.ts'

let upstream: FakeUpstream
let asked: string[]
const replays: Replay[] = []

beforeEach(async () => {
  asked = []
  upstream = await FakeUpstream.open((response, { text }) => {
    const { messages } = JSON.parse(text) as { messages: readonly { content: string }[] }
    asked.push(messages[0]!.content)
    response.writeHead(200, { 'content-type': 'application/json' })
    const message = { role: 'assistant', content: `Answer ${asked.length} to ${messages[0]!.content}` }
    response.end(JSON.stringify({ id: 'c', choices: [{ index: 0, message, finish_reason: 'stop' }] }))
  })
})
afterEach(async () => {
  for (const replay of replays.splice(0)) await replay.close()
  await upstream.close()
})

async function opened(options: ReplayOptions): Promise<Replay> {
  const replay = await openReplay(options)
  replays.push(replay)
  return replay
}

const ask = (url: string, content: string, headers: Record<string, string> = {}) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer sk-caller-12345', ...headers },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
  })

const textOf = async (answer: Response): Promise<string> =>
  ((await answer.json()) as { choices: readonly [{ message: { content: string } }] }).choices[0].message.content

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'on-miss-'))

const warn = (message: string): void => expect.fail(message)

/** Records answers to these prompts. */
async function recorded(...prompts: readonly string[]): Promise<readonly FiledRecording[]> {
  const folder = newFolder()
  const replay = await opened({ recordings: [], onMiss: { upstream: upstream.address, record: { folder, warn } } })
  for (const prompt of prompts) await (await ask(replay.url, prompt)).text()
  await replay.close()
  replays.splice(replays.indexOf(replay), 1)
  asked.length = 0
  return readFolder(folder)
}

describe('a request without a recording', () => {
  test('passes to the upstream and is recorded; the next equal one at once gets the recording', async () => {
    const folder = newFolder()
    const wrote: string[] = []
    const replay = await opened({
      recordings: [],
      onMiss: { upstream: upstream.address, record: { folder, warn, onWritten: file => wrote.push(file) } },
    })
    for (let time = 0; time < 3; time++) expect(await textOf(await ask(replay.url, 'Hi'))).toBe('Answer 1 to Hi')
    expect(asked).toEqual(['Hi'])
    expect(readdirSync(folder)).toEqual(wrote)
    expect([replay.misses, replay.unused]).toEqual([[], []])
    const later = await opened({ recordings: readFolder(folder) })
    expect(await textOf(await ask(later.url, 'Hi'))).toBe('Answer 1 to Hi')
    expect((await ask(later.url, 'Bye')).status).toBe(404)
  })

  test('only passes to the upstream', async () => {
    const replay = await opened({ recordings: await recorded('Hi'), onMiss: { upstream: upstream.address } })
    expect(await textOf(await ask(replay.url, 'Hi'))).toBe('Answer 1 to Hi')
    expect(await textOf(await ask(replay.url, 'Bye'))).toBe('Answer 1 to Bye')
    expect(await textOf(await ask(replay.url, 'Bye'))).toBe('Answer 2 to Bye')
    expect(upstream.seen.at(-1)!.headers['authorization']).toBe('Bearer sk-caller-12345')
  })

  test('fails in the format of the caller if the upstream cannot be reached', async () => {
    const replay = await opened({ recordings: [], onMiss: { upstream: 'http://127.0.0.1:1' } })
    const answer = await ask(replay.url, 'Hi')
    expect(answer.status).toBe(502)
    expect(((await answer.json()) as { error: { message: string } }).error.message).toMatch(/cannot be reached/)
  })
})

describe('faults on demand', () => {
  const faulty = async (faults: string, seed: number): Promise<Replay> =>
    opened({ recordings: await recorded('Hi'), faults: parseFaults(faults), seed })

  test("are answers of the caller's format with their status", async () => {
    const replay = await faulty('429:1', 1)
    const answer = await ask(replay.url, 'Hi')
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '1'])
    expect(await answer.json()).toMatchObject({ error: { type: 'rate_limit_error' } })
    const messages = await fetch(`${replay.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] }),
    })
    expect([messages.status, await messages.json()]).toMatchObject([429, { error: { type: 'rate_limit_error' } }])
    const overloaded = await ask((await faulty('529:1', 1)).url, 'Hi')
    expect(overloaded.status).toBe(529)
  })

  test('cut breaks the connection, garble makes the answer unreadable, stall delays it', async () => {
    const cut = await ask((await faulty('cut:1', 1)).url, 'Hi')
    await expect(cut.text()).rejects.toThrow()
    const garbled = await ask((await faulty('garble:1', 1)).url, 'Hi')
    await expect(garbled.json()).rejects.toThrow()
    const began = performance.now()
    const stalled = await ask((await faulty('stall:80ms:1', 1)).url, 'Hi')
    expect(await textOf(stalled)).toBe('Answer 1 to Hi')
    expect(performance.now() - began).toBeGreaterThan(75)
  })

  test('come again with the same seed, for each scope in its own order', async () => {
    const run = async (seed: number): Promise<string> => {
      const replay = await faulty('429:0.3,503:0.2', seed)
      const scopes = ['a', 'b'].map(async scope => {
        const statuses: number[] = []
        for (let time = 0; time < 12; time++) {
          const answer = await ask(replay.url, 'Hi', { 'interlingua-replay-scope': scope })
          await answer.text()
          statuses.push(answer.status)
        }
        return statuses.join()
      })
      return (await Promise.all(scopes)).join(' ')
    }
    const first = await run(5)
    expect(await run(5)).toBe(first)
    expect(await run(6)).not.toBe(first)
    expect(first).toMatch(/200.*(429|503)|(429|503).*200/)
  })
})

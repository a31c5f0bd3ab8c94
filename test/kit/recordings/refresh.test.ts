import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { recordCommand } from '../../../src/commands/record-command.ts'
import { readFolder } from '../../../src/kit/recordings/folder.ts'
import { Recorder } from '../../../src/kit/recordings/recorder.ts'
import { type RefreshResult, refresh } from '../../../src/kit/recordings/refresh.ts'
import { openReplay } from '../../../src/kit/recordings/replay-server.ts'
import { FakeUpstream } from '../../builders/upstream.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const SECRET = 'sk-provider-12345'

interface Answer {
  readonly status?: number
  readonly type?: string
  readonly text: string
}

/** Records one exchange. */
async function recorded(
  answer: Answer,
  path = '/v1/messages',
  body: object = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] },
) {
  const folder = mkdtempSync(join(tmpdir(), 'refresh-'))
  const recorder = new Recorder({ folder, redact: ['/hidden-\\d+/'], warn: message => expect.fail(message) })
  const headers = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' }
  recorder.exchange(
    { method: 'POST', url: `${path}?beta=true`, headers, body: Buffer.from(JSON.stringify(body)) },
    {
      status: answer.status ?? 200,
      headers: { 'content-type': answer.type ?? 'application/json' },
      ...{ ms: 1, isComplete: true, chunks: [{ ms: 1, bytes: Buffer.from(answer.text) }] },
    },
    new Date('2026-01-01T00:00:00.000Z'),
  )
  await recorder.close()
  return folder
}

async function upstreamOf({ status = 200, type = 'application/json', text }: Answer): Promise<FakeUpstream> {
  const upstream = await FakeUpstream.open(response => {
    response.writeHead(status, { 'content-type': type })
    response.end(text)
  })
  closing.push(() => upstream.close())
  return upstream
}

const all = async (folder: string, upstream: string): Promise<RefreshResult[]> =>
  await Array.fromAsync(refresh({ folder, upstream, key: SECRET }))

const whole = (more: object): string =>
  JSON.stringify({ id: 'a', type: 'message', content: [{ type: 'text', text: 'Hi' }], stop: null, ...more })

test('a refresh replaces the answer and lists fields that were added, removed or changed their type, not values', async () => {
  const folder = await recorded({ text: whole({ usage: { input: 1, tokens: 2 }, list: [] }) })
  const upstream = await upstreamOf({
    text: whole({
      ...{ id: 7, content: [{ type: 'text', text: `New hidden-77 ${SECRET}`, note: true }], list: [{ a: 1 }] },
      usage: { input: 3, input_tokens: 4 },
    }),
  })
  const [one] = await all(folder, `${upstream.address}/v1`)
  expect(one!.reasonKept).toBeUndefined()
  expect(one!.drift).toEqual([
    '~ message:id: string, now number',
    '- message:usage.tokens: number',
    '+ message:content[text].note: boolean',
    '+ message:usage.input_tokens: number',
  ])
  expect(upstream.seen[0]).toMatchObject({ url: '/v1/messages?beta=true', headers: { 'x-api-key': SECRET } })
  const [filed] = readFolder(folder)
  expect(filed!.recording.answer!.body).toMatchObject({
    json: { id: 7, content: [{ text: 'New [redacted] [redacted]' }] },
  })
  expect(filed!.recording.recorded_at).not.toBe('2026-01-01T00:00:00.000Z')
  expect(readdirSync(folder)).toHaveLength(1)
  const replay = await openReplay({ recordings: readFolder(folder) })
  closing.push(() => replay.close())
  const headers = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' }
  const answer = await fetch(`${replay.url}/v1/messages?beta=true`, {
    method: 'POST',
    headers,
    body: upstream.seen[0]!.text,
  })
  expect(await answer.json()).toMatchObject({ id: 7 })
})

test('a stream has the shape of its events, whatever their number', async () => {
  const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`
  const chat = { model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] }
  const delta = { type: 'delta', text: 'a' }
  const type = 'text/event-stream'
  const folder = await recorded(
    { type, text: event(delta) + event(delta) + event({ type: 'end' }) },
    '/v1/chat/completions',
    chat,
  )
  const upstream = await upstreamOf({
    type: `${type}; charset=utf-8`,
    text: event({ ...delta, text: 'other' }) + event({ type: 'end', usage: 1 }),
  })
  expect((await all(folder, upstream.address))[0]!.drift).toEqual(['+ end:usage: number'])
  expect(upstream.seen[0]!.headers['authorization']).toBe(`Bearer ${SECRET}`)
  expect((await all(folder, upstream.address))[0]!.drift).toEqual([])
})

test('an answer that fails now, and an unreachable upstream, leave the recording as it is', async () => {
  const folder = await recorded({ text: whole({}) })
  const [file] = readdirSync(folder)
  const before = readFileSync(join(folder, file!), 'utf8')
  const upstream = await upstreamOf({ status: 401, text: '{}' })
  expect(await all(folder, upstream.address)).toEqual([
    { file, drift: [], reasonKept: 'the upstream answered with status 401' },
  ])
  const { address } = upstream
  await upstream.close()
  closing.length = 0
  expect((await all(folder, address))[0]!.reasonKept).toMatch(/^the upstream cannot be reached: /)
  expect(readFileSync(join(folder, file!), 'utf8')).toBe(before)
})

test('the command prints the changes and fails, unless there are none', async () => {
  const folder = await recorded({ text: whole({}) })
  const upstream = await upstreamOf({ text: whole({ more: 1 }) })
  const lines: string[] = []
  const run = () =>
    recordCommand(
      folder,
      { upstream: upstream.address, host: '', port: 0, redact: [], ignore: [], refresh: true },
      { out: line => lines.push(line), fault: line => lines.push(line) },
    )
  await expect(run()).rejects.toThrow('the recordings differ')
  expect(lines).toEqual([
    expect.stringMatching(/^messages-hi-[0-9a-f]{8}\.json\n {2}\+ message:more: number$/),
    'Refreshed 1 of 1 recordings; 1 changed their shape',
  ])
  await run()
  expect(lines.at(-1)).toBe('Refreshed 1 of 1 recordings; 0 changed their shape')
})

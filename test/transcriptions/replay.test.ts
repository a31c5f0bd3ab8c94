import { readFileSync } from 'node:fs'
import OpenAI, { toFile } from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { channelAt, KEY } from '../builders/config.ts'
import { type Demo, openDemo } from '../builders/demo.ts'
import { TestServer } from '../builders/gateway.ts'

/* The endpoints without a network. The built-in upstream answers with the fixtures. */

const HEARD = 'The kettle is on. Tea in five minutes.'

let replay: Demo
let testServer: TestServer
let client: OpenAI
beforeAll(async () => {
  replay = await openDemo()
  testServer = await TestServer.open([channelAt(replay.url, { format: 'transcriptions' })])
  client = new OpenAI({ baseURL: `${testServer.server.address}/v1`, apiKey: KEY, maxRetries: 0 })
})
afterAll(async () => {
  await testServer.server.close(0)
  await replay.close()
})

const file = () => toFile(Buffer.from('RIFF'), 'note.wav', { type: 'audio/wav' })
const fixture = (name: string): string => readFileSync(`fixtures/transcriptions/${name}`, 'utf8')

test.each([
  ['srt', 'subtitles.result.srt'],
  ['vtt', 'captions.result.vtt'],
  ['text', 'plain.result.txt'],
] as const)('%s', async (response_format, name) => {
  expect(await client.audio.transcriptions.create({ file: await file(), model: 'm', response_format })).toBe(
    fixture(name),
  )
})

test('json', async () => {
  const { text, usage } = await client.audio.transcriptions.create({ file: await file(), model: 'm' })
  expect({ text, usage }).toMatchObject({ text: HEARD, usage: { type: 'duration' } })
})

test('speakers', async () => {
  const answer = await client.audio.transcriptions.create({
    ...{ file: await file(), model: 'm', chunking_strategy: 'auto' as const },
    response_format: 'diarized_json',
  })
  expect(answer).toMatchObject(JSON.parse(fixture('speakers.result.json')))
})

test('a stream', async () => {
  const said: string[] = []
  for await (const event of await client.audio.transcriptions.create({ file: await file(), model: 'm', stream: true }))
    if (event.type === 'transcript.text.delta') said.push(event.delta)
  expect(said.join('')).toBe(HEARD)
})

test('a translation', async () => {
  const { text } = await client.audio.translations.create({
    file: await file(),
    model: 'm',
    prompt: 'A note about tea',
  })
  expect(text).toBe('The water is boiling.')
})

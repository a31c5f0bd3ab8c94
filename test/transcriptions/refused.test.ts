import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wavHeader } from '../../src/canonical/media/wav.ts'
import { channelAt, KEY } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { FakeUpstream } from '../builders/upstream.ts'

/*
 * Faults that the audio endpoints refuse themselves, with the name of the field, before any upstream gets the request.
 */

const ONE_SAMPLE = Buffer.concat([wavHeader({ rate: 24_000, channels: 1 }, 2), Buffer.alloc(2)])
const SOUNDLESS: { readonly [name: string]: Uint8Array } = {
  'no bytes': Buffer.alloc(0),
  'the head of a WAV file': wavHeader({ rate: 24_000, channels: 1 }, 0),
  'the head of a WAV file whose end was not known': wavHeader({ rate: 24_000, channels: 1 }),
  'half the head of a WAV file': wavHeader({ rate: 24_000, channels: 1 }, 8).subarray(0, 36),
}

let upstream: FakeUpstream
let testServer: TestServer
beforeAll(async () => {
  upstream = await FakeUpstream.open(response => response.writeHead(200).end('never asked'))
  testServer = await TestServer.open([channelAt(upstream.address, { format: 'transcriptions' })])
})
afterAll(async () => {
  expect(upstream.seen).toEqual([])
  await testServer.server.close(0)
  await upstream.close()
})

type Fields = readonly (readonly [name: string, value: string])[]

async function send(
  fields: Fields,
  { path = '/v1/audio/transcriptions', bytes = ONE_SAMPLE }: { path?: string; bytes?: Uint8Array } = {},
) {
  const form = new FormData()
  form.append('file', new Blob([new Uint8Array(bytes)], { type: 'audio/wav' }), 'a.wav')
  form.append('model', 'm')
  for (const [name, value] of fields) form.append(name, value)
  const headers = { authorization: `Bearer ${KEY}` }
  const answer = await fetch(testServer.server.address + path, { method: 'POST', body: form, headers })
  return { status: answer.status, error: ((await answer.json()) as { error: object }).error }
}

describe('400 in the format’s own words for', () => {
  test.each(Object.entries(SOUNDLESS))('a file of %s', async (_, bytes) => {
    for (const path of ['/v1/audio/transcriptions', '/v1/audio/translations'])
      expect(await send([], { bytes, path })).toMatchObject({
        status: 400,
        error: { type: 'invalid_request_error', param: 'file' },
      })
  })

  test('a form without a file', async () => {
    const form = new FormData()
    form.append('model', 'm')
    const headers = { authorization: `Bearer ${KEY}` }
    const url = `${testServer.server.address}/v1/audio/transcriptions`
    const answer = await fetch(url, { method: 'POST', body: form, headers })
    expect({ status: answer.status, said: await answer.json() }).toMatchObject({
      status: 400,
      said: { error: { param: 'file' } },
    })
  })

  test.each([
    ['/v1/audio/transcriptions', 'lrc'],
    ['/v1/audio/transcriptions', ''],
    ['/v1/audio/transcriptions', 'JSON'],
    ['/v1/audio/translations', 'lrc'],
    ['/v1/audio/translations', 'diarized_json'],
  ])('%s in the shape %j', async (path, word) => {
    const { status, error } = await send([['response_format', word]], { path })
    expect({ status, error }).toMatchObject({ status: 400, error: { param: 'response_format' } })
    expect(JSON.stringify(error)).toContain('verbose_json')
  })

  test.each([
    ['text', 'timestamp_granularities[]', 'segment'],
    ['srt', 'timestamp_granularities[]', 'word'],
    ['json', 'timestamp_granularities[]', 'word'],
    ['diarized_json', 'timestamp_granularities[]', 'segment'],
    ['verbose_json', 'include[]', 'logprobs'],
    ['text', 'include[]', 'logprobs'],
  ])('%s with %s=%s', async (shape, field, value) => {
    const { status, error } = await send([
      ['response_format', shape],
      [field, value],
    ])
    expect({ status, error }).toMatchObject({ status: 400, error: { param: field } })
  })

  test.each([
    ['response_format', 'banana', 'mp3'],
    ['response_format', 'ogg', 'opus'],
    ['stream_format', 'websocket', 'sse'],
  ])('speech with %s %s', async (field, word, known) => {
    const { status, json } = await testServer.ask('/v1/audio/speech', { model: 'm', input: 'a', [field]: word })
    expect({ status, error: json.error }).toMatchObject({ status: 400, error: { param: field } })
    expect(json.error.message).toContain(known)
  })

  test.each(Object.entries(SOUNDLESS))('a sound of %s in a message', async (_, bytes) => {
    const data = Buffer.from(bytes).toString('base64')
    const content = [
      { type: 'text', text: 'Listen.' },
      { type: 'input_audio', input_audio: { data, format: 'wav' } },
    ]
    const chat = await testServer.ask('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content }] })
    const path = 'messages.0.content.1.input_audio.data'
    expect({ status: chat.status, error: chat.json.error }).toMatchObject({ status: 400, error: { param: path } })
    const contents = [{ role: 'user', parts: [{ text: 'Listen.' }, { inlineData: { mimeType: 'audio/wav', data } }] }]
    const google = await testServer.ask('/v1beta/models/m:generateContent', { contents })
    expect({ status: google.status, error: google.json.error }).toMatchObject({
      status: 400,
      error: {
        status: 'INVALID_ARGUMENT',
        message: expect.stringContaining('contents.0.parts.1: The audio is empty'),
      },
    })
  })
})

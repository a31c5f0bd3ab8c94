import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { channelAt, KEY } from '../../builders/config.ts'
import { opener } from '../../builders/opener.ts'

/*
 * Models that refuse OpenAI's voices, from clients that offer no others (pipecat, Open WebUI, Home Assistant):
 * docs/wire/speech.md#voices.
 */

const { openGateway, openUpstream } = opener()

const VOICES: { readonly [model: string]: RegExp } = {
  'canopylabs/orpheus-v1-english': /^(?:autumn|diana|hannah|austin|daniel|troy)$/,
  'canopylabs/orpheus-arabic-saudi': /^(?:fahad|sultan|lulwa|noura)$/,
  'canopylabs/orpheus-3b-0.1-ft': /^(?:tara|leah|jess|leo|dan|mia|zac|zoe)$/,
  'hexgrad/Kokoro-82M': /^[ab][fm]_[a-z]+$/,
  'tts-1-hd': /^(?:alloy|ash|coral|echo|fable|nova|onyx|sage|shimmer)$/,
}
const OPENAI_VOICES = [
  ...['alloy', 'ash', 'ballad', 'cedar', 'coral', 'echo', 'fable', 'marin', 'nova', 'onyx', 'sage', 'shimmer', 'verse'],
]

async function openSpeech(model: string, dialect: JsonObject = {}) {
  const voices: string[] = []
  const upstream = await openUpstream((response, { text }) => {
    const { voice } = JSON.parse(text)
    voices.push(voice)
    const isRefused = VOICES[model]?.test(voice) === false
    response.writeHead(isRefused ? 400 : 200, { 'content-type': isRefused ? 'application/json' : 'audio/mpeg' })
    response.end(isRefused ? '{"error":{"message":"voice must be one of …"}}' : 'ID3')
  })
  const models = { named: new Map([['m', model]]), patterns: [] }
  const testServer = await openGateway([channelAt(upstream.address, { format: 'speech', dialect, models })])
  const speak = async (voice: string) => {
    const answer = await fetch(`${testServer.server.address}/v1/audio/speech`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', input: 'Tea is served.', voice }),
    })
    await answer.arrayBuffer()
    return { status: answer.status, losses: answer.headers.get('interlingua-loss') }
  }
  return { speak, voices }
}

test.each(Object.keys(VOICES))('%s speaks with its most similar voices', async model => {
  const { speak } = await openSpeech(model)
  for (const voice of OPENAI_VOICES) expect([voice, (await speak(voice)).status]).toEqual([voice, 200])
})

test("a model's own voice passes, and another one is reported", async () => {
  const { speak, voices } = await openSpeech('canopylabs/orpheus-v1-english')
  expect((await speak('troy')).losses).toBeNull()
  expect((await speak('marin')).losses).toContain('voice-of-the-upstream')
  expect(voices).toEqual(['troy', 'hannah'])
})

test('voices of the operator count alone', async () => {
  const { speak, voices } = await openSpeech('hexgrad/Kokoro-82M', { voices: { alloy: 'af_sky' } })
  expect([(await speak('alloy')).status, (await speak('nova')).status]).toEqual([200, 400])
  expect(voices).toEqual(['af_sky'])
})

import { expect, test } from 'vitest'
import { wavHeader } from '../../src/canonical/media/wav.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { PRESETS } from '../../src/formats/index.ts'
import { channelAt, KEY } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'

/*
 * Fields that OpenAI's newer models and Groq refuse with 400 (vercel/ai#8214, vercel/ai#11679, SubtitleEdit#11123), from
 * clients that send them to every model.
 */

const { openGateway, openUpstream } = opener()
const WAV = Buffer.concat([wavHeader({ rate: 24_000, channels: 1 }, 2), Buffer.alloc(2)])
const REFUSED: { readonly [model: string]: (form: FormData) => boolean } = {
  'gpt-4o-transcribe': form => form.get('response_format') === 'verbose_json' || form.has('timestamp_granularities[]'),
  'gpt-4o-transcribe-diarize': form =>
    !form.has('chunking_strategy') ||
    !['json', 'diarized_json', null].includes(form.get('response_format') as string | null) ||
    ['prompt', 'include[]', 'timestamp_granularities[]'].some(field => form.has(field)),
  'mistralai/Voxtral-Mini-4B-Realtime-2602': form => form.get('response_format') === 'verbose_json',
  'whisper-large-v3': form => [...form.keys()].some(field => !GROQ_FIELDS.has(field)),
}
const GROQ_FIELDS = new Set([
  ...['file', 'url', 'model', 'language', 'prompt', 'response_format', 'temperature', 'timestamp_granularities[]'],
])
const SEGMENT = { type: 'transcript.text.segment', id: 'seg_0', start: 0, end: 1.5, text: 'Tea.', speaker: 'A' }

async function transcribe(model: string, fields: readonly (readonly [string, string])[], dialect: JsonObject = {}) {
  const forms: FormData[] = []
  const upstream = await openUpstream(async (response, { text, headers }) => {
    const type = String(headers['content-type'])
    const form = await new Response(text, { headers: { 'content-type': type } }).formData()
    forms.push(form)
    const isRefused = REFUSED[model]?.(form) === true
    const isDiarized = form.get('response_format') === 'diarized_json'
    const body = { text: 'Tea.', ...(isDiarized && { task: 'transcribe', duration: 1.5, segments: [SEGMENT] }) }
    response.writeHead(isRefused ? 400 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const models = { named: new Map([['m', model]]), patterns: [] }
  const testServer = await openGateway([channelAt(upstream.address, { format: 'transcriptions', dialect, models })])
  const form = new FormData()
  form.append('file', new Blob([new Uint8Array(WAV)], { type: 'audio/wav' }), 'a.wav')
  form.append('model', 'm')
  for (const [name, value] of fields) form.append(name, value)
  const headers = { authorization: `Bearer ${KEY}` }
  const url = `${testServer.server.address}/v1/audio/transcriptions`
  const answer = await fetch(url, { method: 'POST', body: form, headers })
  return { status: answer.status, text: await answer.text(), losses: answer.headers.get('interlingua-loss'), forms }
}

const VERBOSE = [
  ['response_format', 'verbose_json'],
  ['timestamp_granularities[]', 'word'],
] as const

test('gpt-4o-transcribe gets no times to write, and the caller the fields of its response format', async () => {
  const { status, text, losses } = await transcribe('gpt-4o-transcribe', VERBOSE.slice(0, 1))
  expect(status).toBe(200)
  expect(JSON.parse(text)).toEqual({ task: 'transcribe', language: 'und', duration: 0, text: 'Tea.' })
  expect(losses).toContain('no-timestamps')
})

test('times that a caller names are refused before gpt-4o-transcribe', async () => {
  const { status, forms } = await transcribe('gpt-4o-transcribe', VERBOSE)
  expect([status, forms]).toEqual([422, []])
})

test('the diarizing model gets the chunking strategy that it requires', async () => {
  const { status, text, forms } = await transcribe('gpt-4o-transcribe-diarize', [])
  expect([status, JSON.parse(text)]).toEqual([200, { text: 'Tea.' }])
  expect(forms[0]?.get('chunking_strategy')).toBe('auto')
  const own = await transcribe('gpt-4o-transcribe-diarize', [['chunking_strategy', '{"type":"server_vad"}']])
  expect(own.forms[0]?.getAll('chunking_strategy')).toEqual(['{"type":"server_vad"}'])
})

test('the diarizing model answers segments in the response format of the caller', async () => {
  const { status, text } = await transcribe('gpt-4o-transcribe-diarize', VERBOSE)
  expect(status).toBe(200)
  expect(JSON.parse(text)).toMatchObject({ duration: 1.5, segments: [{ id: 0, start: 0, end: 1.5, text: 'Tea.' }] })
  const plain = [
    ['prompt', 'Tea'],
    ['include[]', 'logprobs'],
  ] as const
  const { losses } = await transcribe('gpt-4o-transcribe-diarize', plain)
  expect(losses).toMatch(/prompt.*include|include.*prompt/)
  const subtitles = await transcribe('gpt-4o-transcribe-diarize', [['response_format', 'srt']])
  expect(subtitles.text).toContain('00:00:00,000 --> 00:00:01,500')
  const own = await transcribe('gpt-4o-transcribe-diarize', [['response_format', 'diarized_json']])
  expect(JSON.parse(own.text).segments).toEqual([SEGMENT])
})

/* Mistral answers 200 with an empty text to a language beside times (livekit/agents#4399). */
test('Mistral gets no language beside times, and the loss is reported', async () => {
  const { dialect = {} } = PRESETS.get('mistral')!.formats.find(({ format }) => format === 'transcriptions')!
  const timed = await transcribe('voxtral-mini-2602', [['language', 'en'], VERBOSE[0]], dialect)
  expect([...timed.forms[0]!.keys()]).not.toContain('language')
  expect(timed.losses).toContain('language not-beside-times')
  const plain = await transcribe('voxtral-mini-2602', [['language', 'en']], dialect)
  expect(plain.forms[0]!.get('language')).toBe('en')
})

test.each(['true', 'false'])('Groq gets no stream (%s), and the caller of a stream events', async stream => {
  const { dialect = {} } = PRESETS.get('groq')!.formats.find(({ format }) => format === 'transcriptions')!
  const { status, text } = await transcribe('whisper-large-v3', [['stream', stream]], dialect)
  expect(status).toBe(200)
  expect(text).toContain(stream === 'true' ? '"type":"transcript.text.done"' : '{"text":"Tea."}')
})

/* "unknown param `timestamp_granularities`" (Vexa-ai/vexa#1349). */
test('Groq gets granularities in brackets and none of the fields that it refuses', async () => {
  const { dialect = {} } = PRESETS.get('groq')!.formats.find(({ format }) => format === 'transcriptions')!
  const fields = [
    ['response_format', 'verbose_json'],
    ['timestamp_granularities', 'word'],
    ['keywords[]', 'Darjeeling'],
    ['chunking_strategy', 'auto'],
  ] as const
  const { status, losses, forms } = await transcribe('whisper-large-v3', fields, dialect)
  expect(status).toBe(200)
  expect(forms[0]!.getAll('timestamp_granularities[]')).toEqual(['word'])
  expect(losses).toMatch(/keywords.*chunking_strategy|chunking_strategy.*keywords/)
  const plain = await transcribe('whisper-large-v3', [['include[]', 'logprobs']], dialect)
  expect([plain.status, plain.losses]).toEqual([200, expect.stringContaining('no-log-probabilities')])
})

test('log probabilities and chunks that Mistral does not know are reported', async () => {
  const { dialect = {} } = PRESETS.get('mistral')!.formats.find(({ format }) => format === 'transcriptions')!
  const fields = [
    ['include[]', 'logprobs'],
    ['chunking_strategy', 'auto'],
    ['diarize', 'true'],
  ] as const
  const { losses, forms } = await transcribe('voxtral-mini-2602', fields, dialect)
  expect([...forms[0]!.keys()].sort()).toEqual(['diarize', 'file', 'model'])
  expect(losses).toContain('no-log-probabilities')
})

test('Mistral’s clients get the speakers and words that they name', async () => {
  const { dialect = {} } = PRESETS.get('mistral')!.formats.find(({ format }) => format === 'transcriptions')!
  const fields = [
    ['diarize', 'true'],
    ['context_bias', 'Darjeeling'],
  ] as const
  const { forms } = await transcribe('voxtral-mini-2602', fields, dialect)
  expect([forms[0]!.get('diarize'), forms[0]!.get('context_bias')]).toEqual(['true', 'Darjeeling'])
})

test('Voxtral at vLLM gets no times to write, and the caller the fields of its response format', async () => {
  const { dialect = {} } = PRESETS.get('vllm')!.formats.find(({ format }) => format === 'transcriptions')!
  const { status, text } = await transcribe('mistralai/Voxtral-Mini-4B-Realtime-2602', VERBOSE.slice(0, 1), dialect)
  expect([status, JSON.parse(text)]).toEqual([200, expect.objectContaining({ text: 'Tea.', duration: 0 })])
})

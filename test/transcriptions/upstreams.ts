import type { ServerResponse } from 'node:http'
import type { ChannelConfig, ChannelFormat } from '../../src/config/index.ts'
import { channelAt } from '../builders/config.ts'
import type { SeenForm } from './stub.ts'

/* Upstreams that transcribe, each in its own form. All of them hear the same. */

export const TEXT = 'The kettle is on. Tea in five minutes.'
export const FIRST = { start: 0, end: 1.25, text: 'The kettle is on.' }
export const SECOND = { start: 1.5, end: 3.25, text: 'Tea in five minutes.' }

const WORDS = [
  ['The', 0, 0.25],
  ['kettle', 0.25, 0.75],
  ['is', 0.75, 1],
  ['on.', 1, 1.25],
  ['Tea', 1.5, 1.75],
  ['in', 1.75, 2],
  ['five', 2, 2.5],
  ['minutes.', 2.5, 3.25],
] as const

export interface Upstream {
  readonly format: string
  readonly path: string
  readonly auth?: ChannelFormat['auth']
  readonly dialect?: ChannelFormat['dialect']
  /** Whether the upstream reports times, and whether those of words. */
  readonly times: 'none' | 'segments' | 'words'
  readonly speakers: boolean
  readonly translates: boolean
  answer(response: ServerResponse, seen: SeenForm): void
}

const send = (response: ServerResponse, body: unknown): void => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const stream = (response: ServerResponse, events: readonly unknown[], done = false): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`)
  response.end(done ? 'data: [DONE]\n\n' : '')
}

const PIECES = ['The kettle', ' is on.', ' Tea in five', ' minutes.']
const fieldOf = ({ fields }: SeenForm, name: string): string | undefined =>
  fields.find(([field]) => field === name)?.[1]
const valuesOf = ({ fields }: SeenForm, name: string): string[] =>
  fields.filter(([field]) => field.replace('[]', '') === name).map(([, value]) => value)

const clock = (seconds: number): string => `00:0${seconds.toFixed(3)}`

const words = WORDS.map(([word, start, end]) => ({ word, start, end }))

const verboseAnswer = (seen: SeenForm) => ({
  ...{ task: 'transcribe', language: 'english', duration: 3.5, text: TEXT },
  ...(valuesOf(seen, 'timestamp_granularities').includes('word') ? { words } : {}),
  segments: [FIRST, SECOND].map((segment, id) => ({
    ...{ id, seek: 0, ...segment, tokens: [1, 2], temperature: 0 },
    ...{ avg_logprob: -0.2, compression_ratio: 1.1, no_speech_prob: 0.01 },
  })),
})

/** OpenAI's own upstream, which supports every shape. */
export const transcriptions: Upstream = {
  format: 'transcriptions',
  path: '/v1',
  times: 'words',
  speakers: true,
  translates: true,
  answer(response, seen) {
    const shape = fieldOf(seen, 'response_format') ?? 'json'
    const spoken = [FIRST, SECOND].map((segment, index) => ({
      type: 'transcript.text.segment',
      id: `seg_${index}`,
      ...segment,
      speaker: 'AB'[index],
    }))
    if (fieldOf(seen, 'stream') === 'true') {
      const deltas = PIECES.map(delta => ({ type: 'transcript.text.delta', delta }))
      stream(response, [
        ...deltas,
        ...(shape === 'diarized_json' ? spoken : []),
        { type: 'transcript.text.done', text: TEXT },
      ])
    } else if (shape === 'verbose_json') send(response, verboseAnswer(seen))
    else if (shape === 'diarized_json')
      send(response, { task: 'transcribe', duration: 3.5, text: TEXT, segments: spoken })
    else if (shape === 'json') send(response, { text: TEXT, usage: { type: 'duration', seconds: 4 } })
    else response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end(RAW[shape])
  },
}

export const RAW: { readonly [shape: string]: string } = {
  text: `${TEXT}\n`,
  srt: `1\n00:00:00,000 --> 00:00:01,250\n${FIRST.text}\n\n2\n00:00:01,500 --> 00:00:03,250\n${SECOND.text}\n\n`,
  vtt: `WEBVTT\n\n00:00:00.000 --> 00:00:01.250\n${FIRST.text}\n\n00:00:01.500 --> 00:00:03.250\n${SECOND.text}\n\n`,
}

/** An upstream like Groq and vLLM: no subtitles, streams that look like chat's, and a length in quotes. */
const verbose: Upstream = {
  ...transcriptions,
  dialect: { transcript_shapes: 'json' },
  speakers: false,
  answer(response, seen) {
    const shape = fieldOf(seen, 'response_format') ?? 'json'
    if (['srt', 'vtt', 'diarized_json'].includes(shape))
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"No such shape."}}')
    else if (fieldOf(seen, 'stream') === 'true')
      stream(
        response,
        [...PIECES, ''].map((content, index) => ({
          object: 'transcription.chunk',
          choices: [{ delta: { content }, finish_reason: index === PIECES.length ? 'stop' : null }],
        })),
        true,
      )
    else if (shape === 'verbose_json') send(response, { ...verboseAnswer(seen), duration: '3.5' })
    else transcriptions.answer(response, seen)
  },
}

/** An upstream like Mistral: one shape, with times and speakers in fields of its own. */
const plain: Upstream = {
  ...transcriptions,
  dialect: { transcript_shapes: 'none' },
  answer(response, seen) {
    const wanted = valuesOf(seen, 'timestamp_granularities')
    const speakers = fieldOf(seen, 'diarize') === 'true'
    const segments = [FIRST, SECOND].map((segment, index) => ({
      type: 'transcription_segment',
      ...segment,
      ...(speakers ? { speaker_id: 'AB'[index] } : {}),
    }))
    if (fieldOf(seen, 'stream') === 'true')
      stream(response, [
        { type: 'transcription.language', audio_language: 'en' },
        ...PIECES.map(text => ({ type: 'transcription.text.delta', text })),
        ...(wanted.length > 0 ? segments.map(segment => ({ ...segment, type: 'transcription.segment' })) : []),
        { type: 'transcription.done', model: 'm', text: TEXT, language: 'en', segments: [] },
      ])
    else
      send(response, {
        ...{ model: 'm', text: TEXT, language: 'en' },
        ...{
          segments: wanted.length > 0 || speakers ? segments : [],
          usage: { prompt_tokens: 4, completion_tokens: 10 },
        },
        ...(wanted.includes('word') ? { words } : {}),
      })
  },
}

const contents: Upstream = {
  format: 'contents',
  path: '',
  auth: 'x-goog-api-key',
  times: 'segments',
  speakers: true,
  translates: true,
  answer(response, { url, raw }) {
    const { generationConfig } = JSON.parse(raw.text)
    const schema = JSON.stringify(generationConfig?.responseJsonSchema ?? '')
    const said = [FIRST, SECOND].map(({ start, end, text }, index) => ({
      start: clock(start),
      end: clock(end),
      ...(schema.includes('speaker') ? { speaker: 'AB'[index] } : {}),
      text,
    }))
    const text = schema.includes('segments') ? JSON.stringify({ language: 'en', segments: said }) : TEXT
    const part = (...parts: unknown[]) => ({ candidates: [{ content: { role: 'model', parts }, index: 0 }] })
    const end = { candidates: [{ content: { role: 'model', parts: [] }, finishReason: 'STOP', index: 0 }] }
    const thought = { text: 'I listen.', thought: true }
    if (url.includes('streamGenerateContent'))
      stream(response, [part(thought), ...PIECES.map(text => part({ text })), end])
    else send(response, { candidates: [{ ...part(thought, { text }).candidates[0], finishReason: 'STOP' }] })
  },
}

const chat: Upstream = {
  format: 'chat',
  path: '/v1',
  times: 'none',
  speakers: false,
  translates: true,
  answer(response, { raw }) {
    if (JSON.parse(raw.text).stream === true)
      stream(
        response,
        [...PIECES, undefined].map(content => ({
          id: 'c',
          choices: [{ index: 0, delta: { content }, finish_reason: content === undefined ? 'stop' : null }],
        })),
        true,
      )
    else
      send(response, {
        id: 'c',
        choices: [{ index: 0, message: { role: 'assistant', content: TEXT }, finish_reason: 'stop' }],
      })
  },
}

const deepgram: Upstream = {
  format: 'deepgram',
  path: '',
  auth: 'token',
  times: 'words',
  speakers: true,
  translates: false,
  answer(response, { url }) {
    const query = new URLSearchParams(url.slice(url.indexOf('?')))
    const speaker = (index: number) => (query.get('diarize') === 'true' ? { speaker: index } : {})
    const heard = WORDS.map(([word, start, end], index) => ({
      word: word.toLowerCase().replace('.', ''),
      punctuated_word: word,
      ...{ start, end, confidence: 0.9 },
      ...speaker(index < 4 ? 0 : 1),
    }))
    const utterances = [FIRST, SECOND].map(({ text, ...times }, index) => ({
      transcript: text,
      ...times,
      ...speaker(index),
    }))
    send(response, {
      metadata: { request_id: 'r', duration: 3.5, channels: 1 },
      results: {
        channels: [{ detected_language: 'en', alternatives: [{ transcript: TEXT, confidence: 0.9, words: heard }] }],
        ...(query.get('utterances') === 'true' ? { utterances } : {}),
      },
    })
  },
}

const elevenlabs: Upstream = {
  format: 'elevenlabs',
  path: '',
  auth: 'xi-api-key',
  times: 'words',
  speakers: true,
  translates: false,
  answer(response, seen) {
    const speakers = fieldOf(seen, 'diarize') === 'true'
    const heard = WORDS.flatMap(([text, start, end], index) => {
      const word = { text, start, end, type: 'word', ...(speakers ? { speaker_id: index < 4 ? 'A' : 'B' } : {}) }
      return [word, { text: ' ', start: end, end, type: 'spacing' }]
    })
    send(response, {
      ...{ language_code: 'eng', language_probability: 0.98, text: TEXT },
      words: fieldOf(seen, 'timestamps_granularity') === 'word' ? heard : [],
    })
  },
}

export const UPSTREAMS: { readonly [name: string]: Upstream } = {
  transcriptions,
  verbose,
  plain,
  contents,
  chat,
  deepgram,
  elevenlabs,
}

export function channelOf({ format, path, auth = 'bearer', dialect = {} }: Upstream, address: string): ChannelConfig {
  const formats = [{ format, baseUrl: `${address}${path}`, auth, headers: {}, query: {}, dialect }]
  return { ...channelAt(address), formats }
}

import { parseObject } from '../../src/canonical/node.ts'
import { events, HEAD, words } from '../builders/chat.ts'
import { dataOf } from '../builders/http.ts'
import type { Script } from '../builders/upstream.ts'
import type { Loose } from '../clients/scene.ts'

/** An endpoint with streamed answers, and the form of an error that ends one. */
export interface Streamed {
  readonly path: string
  readonly body: unknown
  readonly headers?: { readonly [name: string]: string }
  /** Format of the upstream. */
  readonly format: string
  /** Starts an answer and does not continue. */
  readonly begins: Script
  /** Part of the started answer. */
  readonly begun: string
  /** Returns the message of the error with which a stream ends. Undefined if it ends otherwise. */
  readonly error: (text: string) => string | undefined
}

const CHAT = { format: 'chat', begins: (response => void events(response).write(`${HEAD}${words('Hel')}`)) as Script }
const TALK = { model: 'm', messages: [{ role: 'user', content: 'Hi.' }], stream: true }
const CONTENTS = { contents: [{ role: 'user', parts: [{ text: 'Hi.' }] }] }

const last = (text: string): Loose => parseObject(dataOf(text).at(-1) ?? '')

const sse =
  (...said: readonly object[]): Script =>
  response =>
    void events(response).write(said.map(data => `data: ${JSON.stringify(data)}\n\n`).join(''))

const FORM = ['model', 'm', 'stream', 'true']
  .map((word, at) => (at % 2 === 0 ? `--x\r\ncontent-disposition: form-data; name="${word}"\r\n\r\n` : `${word}\r\n`))
  .concat('--x\r\ncontent-disposition: form-data; name="file"; filename="a.mp3"\r\n\r\nsound\r\n--x--\r\n')
  .join('')

/** One row per endpoint that streams. */
export const STREAMED: { readonly [door: string]: Streamed } = {
  chat: {
    ...CHAT,
    path: '/v1/chat/completions',
    body: TALK,
    begun: 'Hel',
    error: text => last(text)?.error?.message,
  },
  completions: {
    ...CHAT,
    path: '/v1/completions',
    body: { model: 'm', prompt: 'Hi', stream: true },
    begun: 'Hel',
    error: text => last(text)?.error?.message,
  },
  messages: {
    ...CHAT,
    path: '/v1/messages',
    headers: { 'anthropic-version': '2023-06-01' },
    body: { ...TALK, max_tokens: 99 },
    begun: 'Hel',
    error: text => (text.includes('event: error\n') ? last(text)?.error?.message : undefined),
  },
  responses: {
    ...CHAT,
    path: '/v1/responses',
    body: { model: 'm', input: 'Hi', stream: true },
    begun: 'Hel',
    error: text => {
      const event = dataOf(text).findLast(data => data !== '[DONE]')!
      const { type, response } = parseObject(event) as Loose
      return type === 'response.failed' && response.status === 'failed' ? response.error.message : undefined
    },
  },
  contents: {
    ...CHAT,
    path: '/v1beta/models/m:streamGenerateContent?alt=sse',
    body: CONTENTS,
    begun: 'Hel',
    error: text => last(text)?.error?.message,
  },
  'contents as an array': {
    ...CHAT,
    path: '/v1beta/models/m:streamGenerateContent',
    body: CONTENTS,
    begun: 'Hel',
    error: text => (JSON.parse(text) as Loose[]).at(-1).error?.message,
  },
  images: {
    format: 'images',
    path: '/v1/images/generations',
    body: { model: 'm', prompt: 'a boat', n: 2, stream: true },
    begins: sse(
      { type: 'image_generation.completed', b64_json: 'AAAA', usage: { input_tokens: 1, output_tokens: 1 } },
      { type: 'image_generation.completed', b64_json: 'BBBB', usage: { input_tokens: 1, output_tokens: 1 } },
    ),
    begun: 'AAAA',
    error: text => (last(text)?.type === 'error' ? last(text).error?.message : undefined),
  },
  speech: {
    format: 'speech',
    path: '/v1/audio/speech',
    body: { model: 'm', input: 'Hi', voice: 'alloy', stream_format: 'sse' },
    begins: sse({ type: 'speech.audio.delta', audio: 'AAAA' }),
    begun: 'AAAA',
    error: text => (last(text)?.type === 'error' ? last(text).error?.message : undefined),
  },
  transcriptions: {
    format: 'transcriptions',
    path: '/v1/audio/transcriptions',
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    body: FORM,
    begins: sse({ type: 'transcript.text.delta', delta: 'Hel' }),
    begun: 'Hel',
    error: text => last(text)?.error?.message,
  },
}

import fc from 'fast-check'
import { BufferedBytes } from '../../../src/canonical/bytes.ts'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { WireFile, WireRequest } from '../../../src/canonical/wire.ts'
import { filled, json, record, word } from '../arbitrary.ts'
import { CHAT_COUNTS, RESPONSES_COUNTS, usageIn } from '../counts.ts'
import { maybeNull } from '../loose.ts'
import { seconds } from '../work-parts.ts'

/* Forms with a recording as clients send them, and transcripts as upstreams write them. */

const strange = fc
  .array(fc.tuple(fc.constantFrom('x_vendor', 'x_more', 'constructor'), fc.oneof(json, fc.constant(null))), {
    maxLength: 2,
  })
  .map(entries => Object.fromEntries(entries) as JsonObject)

const plus = (known: fc.Arbitrary<unknown>): fc.Arbitrary<JsonObject> =>
  fc.tuple(strange, known).map(([more, own]) => ({ ...more, ...(own as JsonObject) }))

const one = <T>(value: fc.Arbitrary<T>) => fc.oneof(value, fc.array(value, { maxLength: 3 }))
const granularity = one(fc.constantFrom('word', 'segment', 'x_char'))

const strangeFields = fc
  .array(fc.tuple(fc.constantFrom('languages[]', 'chunking_strategy', 'known_speaker_names[]', 'x_more'), one(word)), {
    maxLength: 2,
  })
  .map(entries => Object.fromEntries(entries) as JsonObject)

const body = fc
  .tuple(
    strangeFields,
    record<JsonObject>(
      { model: filled },
      {
        language: filled,
        prompt: word,
        response_format: fc.constantFrom('json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'),
        temperature: fc.constantFrom('0', '0.2', '0.20', '1', '1e0', ' 1'),
        stream: fc.constantFrom('true', 'false', 'True', '0'),
        'timestamp_granularities[]': granularity,
        timestamp_granularities: granularity,
        'include[]': one(fc.constantFrom('logprobs', 'x_more')),
        include: fc.constantFrom('logprobs', 'x_more'),
        'keywords[]': one(word),
        keywords: one(word),
      },
    ),
  )
  .map(([strange, own]) => ({ ...strange, ...own }))

const file: fc.Arbitrary<WireFile> = record<WireFile>(
  {
    field: fc.constant('file'),
    mediaType: fc.constantFrom('audio/wav', 'audio/mpeg', 'application/octet-stream', 'text/plain'),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 6 }).map(data => new BufferedBytes(data)),
  },
  { name: fc.constantFrom('a.mp3', 'speech.webm', 'blob', 'ünï"code.wav', 'a.mp4') },
)

/** Whether OpenAI's description allows the fields with the shape. */
function isAllowed(path: string, body: JsonObject): boolean {
  const { response_format: shape } = body
  if (shape === undefined) return true
  const said = (name: string) => [body[name], body[`${name}[]`]].flat().filter(value => value !== undefined)
  const times = said('timestamp_granularities')
  if (shape === 'diarized_json' && path.endsWith('/translations')) return false
  if (shape !== 'json' && said('include').includes('logprobs')) return false
  return shape === 'verbose_json' || times.every(one => shape === 'json' && one === 'segment')
}

export const request: fc.Arbitrary<WireRequest> = fc
  .tuple(fc.constantFrom('/audio/transcriptions', '/audio/translations'), body, file)
  .filter(([path, body]) => isAllowed(path, body))
  .map(([path, body, file]) => ({ path, query: {}, headers: {}, body, files: [file] }))
const segment = plus(
  fc.oneof(
    record(
      { id: fc.nat(9), start: seconds, end: seconds, text: word },
      { seek: fc.nat(), tokens: fc.array(fc.nat(), { maxLength: 2 }), avg_logprob: fc.constant(-0.5) },
    ),
    record(
      { type: fc.constant('transcript.text.segment'), start: seconds, end: seconds, text: word },
      { id: maybeNull(word), speaker: maybeNull(word), speaker_id: word },
    ),
    record({ text: word, start: maybeNull(seconds), end: seconds }),
  ),
)
const spoken = plus(
  record({ word, start: seconds, end: seconds }, { speaker: maybeNull(word), probability: fc.constant(0.5) }),
)
const token = plus(
  record({ token: word, logprob: fc.constant(-0.5) }, { bytes: maybeNull(fc.array(fc.nat(255), { maxLength: 2 })) }),
)
const count = fc.nat(99)
const usage = fc.oneof(
  plus(usageIn(RESPONSES_COUNTS)),
  plus(usageIn(CHAT_COUNTS)),
  plus(
    record(
      { type: fc.constant('tokens'), input_tokens: count, output_tokens: count, total_tokens: fc.nat(199) },
      { input_token_details: maybeNull(plus(record({}, { text_tokens: count, audio_tokens: maybeNull(count) }))) },
    ),
  ),
  plus(record({ type: fc.constant('duration'), seconds: count })),
  plus(
    record({ prompt_tokens: count, completion_tokens: count }, { prompt_audio_seconds: count, total_tokens: count }),
  ),
)

export const result: fc.Arbitrary<JsonObject> = plus(
  record(
    { text: word },
    {
      task: fc.constantFrom('transcribe', 'translate'),
      language: maybeNull(filled),
      duration: maybeNull(fc.oneof(seconds, fc.constant('12.5'))),
      segments: maybeNull(fc.array(segment, { maxLength: 3 })),
      words: maybeNull(fc.array(spoken, { maxLength: 2 })),
      logprobs: maybeNull(fc.array(token, { maxLength: 2 })),
      usage: maybeNull(usage),
      languages: fc.constant([{ code: 'en' }]),
    },
  ),
)

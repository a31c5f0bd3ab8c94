import fc from 'fast-check'
import { BufferedBytes } from '../../../src/canonical/bytes.ts'
import type { MediaPart, Part } from '../../../src/canonical/content.ts'
import { kindOfMediaType } from '../../../src/canonical/media/data-url.ts'
import type { CanonicalRequest, Message } from '../../../src/canonical/request.ts'
import type { CanonicalResult, Segment, Transcript, Usage, Word } from '../../../src/canonical/result.ts'
import { filled, record, word } from '../arbitrary.ts'
import { count, extras, seconds, withWholePrompt } from '../work-parts.ts'

/* Recordings to transcribe, and their transcripts with times and speakers. */
const own = extras('transcriptions', 'deepgram', 'elsewhere')
const others = extras('deepgram', 'elsewhere')

const bytes = fc.uint8Array({ minLength: 1, maxLength: 6 })
const mediaType = fc.constantFrom('audio/wav', 'audio/mpeg', 'audio/mp4', 'audio/ogg', 'audio/webm', 'video/mp4')
const source: fc.Arbitrary<MediaPart['source']> = fc.oneof(
  fc
    .tuple(mediaType, bytes)
    .map(([mediaType, data]) => ({ type: 'bytes' as const, mediaType, bytes: new BufferedBytes(data) })),
  fc.tuple(mediaType, bytes).map(([mediaType, data]) => ({
    type: 'base64' as const,
    mediaType,
    data: Buffer.from(data).toString('base64'),
  })),
)
const recording: fc.Arbitrary<MediaPart> = record<MediaPart>(
  { type: fc.constant('media'), source },
  { name: filled },
).map(part => ({
  ...part,
  kind: kindOfMediaType((part.source as { mediaType: string }).mediaType),
}))
const hint = record<Part>({ type: fc.constant('text'), text: word }, { extras: others })

const messages: fc.Arbitrary<readonly Message[]> = fc
  .tuple(fc.option(fc.array(hint, { minLength: 1, maxLength: 2 }), { nil: undefined }), recording, own)
  .map(([hints, part, extras]): readonly Message[] => [
    ...(hints === undefined ? [] : [{ role: 'system' as const, content: hints }]),
    { role: 'user', content: [part], extras },
  ])

export const request: fc.Arbitrary<CanonicalRequest> = record<CanonicalRequest>(
  {
    model: filled,
    messages,
    output: record({
      transcript: record(
        { task: fc.constantFrom('transcribe', 'transcribe', 'translate') },
        {
          language: fc.constantFrom('en', 'de', 'zh'),
          timestamps: fc.constantFrom(['segment'], ['word'], ['word', 'segment']),
          speakers: fc.constant(true),
          keywords: fc.array(filled, { minLength: 1, maxLength: 3 }),
          extras: others,
        },
      ),
    }),
    sampling: record({}, { temperature: fc.constantFrom(0, 0.5, 1), logprobs: fc.nat(2), topK: fc.nat(9) }),
    stream: fc.boolean(),
  },
  { endUser: filled, extras: own },
)
const segment = record<Segment>({ start: seconds, end: seconds, text: word }, { speaker: filled, extras: own })
const spoken = record<Word>({ start: seconds, end: seconds, word }, { speaker: filled, extras: own })
const token = record(
  { token: word, logprob: fc.constantFrom(-0.1, 0) },
  {
    bytes: fc.array(fc.nat(255), { maxLength: 2 }),
    top: fc.constant([{ token: 'a', logprob: -1 }]),
    extras: own,
  },
)
const transcript = record<Transcript>(
  {},
  {
    language: filled,
    duration: seconds,
    segments: fc.array(segment, { maxLength: 3 }),
    words: fc.array(spoken, { maxLength: 3 }),
    extras: own,
  },
)
const usage: fc.Arbitrary<Usage> = record<Usage>(
  {},
  {
    input: count,
    output: count,
    inputBy: record({}, { text: count, audio: count, image: count }),
    cacheRead: count,
    extras: own,
  },
)

/** A result as the gateway passes it to a writer: with id, model and time. */
export const result: fc.Arbitrary<CanonicalResult> = record<CanonicalResult>(
  {
    id: filled,
    model: filled,
    createdAt: fc.nat(2_000_000_000),
    candidates: fc.tuple(
      record(
        {
          finish: record({ reason: fc.constantFrom('stop', 'length', 'refused') }),
          content: fc.array(record<Part>({ type: fc.constant('text'), text: word }, { extras: others }), {
            maxLength: 1,
          }),
        },
        {
          logprobs: fc.array(token, { minLength: 1, maxLength: 3 }),
          transcript,
          extras: own,
        },
      ),
    ),
  },
  { usage: usage.map(withWholePrompt), extras: own },
)

/** A request that fits the answers. */
export const asked: CanonicalRequest = {
  model: 'asked-model',
  messages: [],
  output: { transcript: { task: 'transcribe', timestamps: ['segment', 'word'] } },
  sampling: {},
  stream: false,
  spelling: {
    chat: { stream_options: { include_usage: true } },
    transcriptions: { said: { response_format: 'verbose_json' } },
  },
}

import fc from 'fast-check'
import { BufferedBytes } from '../../../src/canonical/bytes.ts'
import type { MediaPart, Part, TextPart } from '../../../src/canonical/content.ts'
import type { CanonicalRequest, Message, Output } from '../../../src/canonical/request.ts'
import type { CanonicalResult } from '../../../src/canonical/result.ts'
import { type CanonicalTask, TASK_VARIANTS, type TaskFailure } from '../../../src/canonical/task.ts'
import { bytes, cache, extras, filled, media, opaque, reasoning, record, text, word } from '../arbitrary.ts'

/* Requests for a video, of any format's callers, and the tasks that answer them. */

const mediaType = fc.constantFrom('image/png', 'image/jpeg', 'image/webp')
const source = fc.oneof(
  record({ type: fc.constant('base64'), mediaType, data: bytes }),
  record({
    type: fc.constant('bytes'),
    mediaType,
    bytes: fc.uint8Array({ minLength: 1, maxLength: 6 }).map(data => new BufferedBytes(data)),
  }),
  record({ type: fc.constant('url'), url: fc.webUrl() }, { mediaType }),
  record({ type: fc.constant('file-id'), format: fc.constantFrom('videos', 'responses'), id: filled }, { mediaType }),
)
const picture = record<MediaPart>(
  { type: fc.constant('media'), kind: fc.constant('image'), source },
  {
    name: fc.constantFrom('a.png', 'b'),
    use: fc.constantFrom('mask', 'last-frame', 'reference'),
    detail: fc.constant('high'),
    cache,
    extras,
  },
)

/** The prompt. Every request has one, among other content. */
const prompt: fc.Arbitrary<TextPart> = record({ type: fc.constant('text'), text: filled }, { cache, extras })
const others = fc.array(fc.oneof(picture, picture, text, media, opaque), { maxLength: 3 })
const asking: fc.Arbitrary<readonly Part[]> = fc
  .tuple(others, prompt, others)
  .map(([before, said, after]) => [...before, said, ...after])

const turn = record<Message>({ role: fc.constant('user'), content: asking }, { name: filled, extras })
const earlier: fc.Arbitrary<Message> = fc.oneof(
  record<Message>({ role: fc.constant('system'), content: fc.array(text, { maxLength: 2 }) }),
  record<Message>({ role: fc.constant('assistant'), content: fc.array(fc.oneof(text, reasoning), { maxLength: 2 }) }),
)

const video: fc.Arbitrary<NonNullable<Output['video']>> = record(
  {},
  {
    seconds: fc.constantFrom(4, 5, 8, 12, 2.5),
    size: fc.constantFrom('1280x720', '720x1280', '1920x1080', '640x480', 'auto'),
    aspectRatio: fc.constantFrom('16:9', '9:16', '1:1', '21:9', '0:0'),
    resolution: fc.constantFrom('720p', '1080p', '4k'),
    quality: fc.constantFrom('std', 'pro', 'high'),
    negativePrompt: filled,
    reference: filled,
    extras: record({}, { responses: fc.constant({ x_a: 'low' }), elsewhere: fc.constant({ x_b: 'a' }) }),
  },
)
const remix = fc.tuple(video, filled).map(([video, remixOf]): NonNullable<Output['video']> => ({ ...video, remixOf }))

export const request: fc.Arbitrary<CanonicalRequest> = record<CanonicalRequest>(
  {
    model: filled,
    messages: fc
      .tuple(fc.array(earlier, { maxLength: 2 }), turn)
      .map(([before, last]): readonly Message[] => [...before, last]),
    output: record(
      { modalities: fc.constant(['video']) },
      {
        candidates: fc.integer({ min: 1, max: 3 }),
        video: fc.oneof({ weight: 4, arbitrary: video }, { weight: 1, arbitrary: remix }),
        verbosity: fc.constant('low'),
      },
    ),
    sampling: record({}, { seed: fc.nat(), temperature: fc.constantFrom(0, 1) }),
    stream: fc.boolean(),
  },
  {
    endUser: filled,
    metadata: fc.constant({ a: 'b' }),
    serviceTier: fc.constant('flex'),
    reasoning: record({}, { effort: fc.constantFrom('low', 'high') }),
    state: record({}, { store: fc.boolean() }),
    extras,
  },
)

const failure: fc.Arbitrary<TaskFailure> = record(
  { kind: fc.constantFrom('content-review', 'broken'), message: word },
  { code: fc.constantFrom('moderation_blocked', 'E_17', 'content_policy_violation', 'generation_failed'), extras },
)
const file = record(
  { variant: fc.constantFrom(...TASK_VARIANTS) },
  { url: fc.webUrl(), mediaType: fc.constantFrom('video/mp4', 'image/webp'), extras },
)
const time = fc.integer({ min: 1_000_000_000, max: 2_000_000_000 })
const known = {
  progress: fc.integer({ min: 0, max: 100 }),
  seconds: fc.constantFrom(4, 8, 5.5),
  size: fc.constantFrom('1280x720', '720x1280'),
  prompt: word,
  completedAt: time,
  expiresAt: time,
  remixOf: filled,
  extras,
}
const task: fc.Arbitrary<CanonicalTask> = fc.oneof(
  record<CanonicalTask>({ state: fc.constantFrom('queued', 'in-progress') }, known),
  record<CanonicalTask>({ state: fc.constant('completed') }, { ...known, files: fc.array(file, { maxLength: 2 }) }),
  record<CanonicalTask>({ state: fc.constant('failed') }, { ...known, failure }),
)

/** A result as the gateway passes it to a writer: with id, model and time. */
export const result: fc.Arbitrary<CanonicalResult> = record<CanonicalResult>(
  { id: filled.filter(id => !/^\.+$/.test(id)), model: filled, createdAt: time, candidates: fc.constant([]), task },
  { usage: record({}, { output: fc.nat(99) }), serviceTier: fc.constant('default'), extras },
)

/** A request that fits the task. */
export const asked: CanonicalRequest = {
  model: 'asked-model',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'a boat' }] }],
  output: { modalities: ['video'] },
  sampling: {},
  stream: false,
}

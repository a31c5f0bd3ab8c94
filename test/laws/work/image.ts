import fc from 'fast-check'
import { BufferedBytes } from '../../../src/canonical/bytes.ts'
import type { MediaPart, Part } from '../../../src/canonical/content.ts'
import type { CanonicalRequest, Message, Output } from '../../../src/canonical/request.ts'
import type { CanonicalResult, Usage } from '../../../src/canonical/result.ts'
import { bytes, cache, extras, filled, looks, media, opaque, reasoning, record, text, tool } from '../arbitrary.ts'
import { count, finish, withWholePrompt } from '../work-parts.ts'

/* Requests for images only, of any format's callers, and answers with images. */

const mediaType = fc.constantFrom('image/png', 'image/jpeg', 'image/webp', 'image/jpg', 'image/svg+xml')
const source = fc.oneof(
  record({ type: fc.constant('base64'), mediaType, data: bytes }),
  record({
    type: fc.constant('bytes'),
    mediaType,
    bytes: fc.uint8Array({ minLength: 1, maxLength: 6 }).map(data => new BufferedBytes(data)),
  }),
  record({ type: fc.constant('url'), url: fc.webUrl() }, { mediaType }),
  record(
    { type: fc.constant('file-id'), format: fc.constantFrom('images', 'responses', 'contents'), id: filled },
    { mediaType },
  ),
)
const picture = record<MediaPart>(
  { type: fc.constant('media'), kind: fc.constant('image'), source },
  { name: fc.constantFrom('a.png', 'b'), detail: fc.constant('high'), use: fc.constant('mask'), cache, extras },
)
const asking = fc.array(fc.oneof(text, picture, picture, media, opaque), { maxLength: 5 })
const message: fc.Arbitrary<Message> = fc.oneof(
  {
    weight: 4,
    arbitrary: record<Message>({ role: fc.constant('user'), content: asking }, { name: filled, extras }),
  },
  record<Message>({ role: fc.constant('system'), content: fc.array(text, { maxLength: 2 }) }),
  record<Message>({
    role: fc.constant('assistant'),
    content: fc.array(fc.oneof(text, reasoning), { maxLength: 2 }),
  }),
)

const image: fc.Arbitrary<NonNullable<Output['image']>> = record(
  {},
  {
    size: fc.constantFrom('1024x1024', '1536x1024', '2048x2048', 'auto', '16:9', '9:16', '4:3 2K', '1K', '0:0'),
    quality: fc.constantFrom('low', 'hd', 'standard', 'xhigh'),
    style: fc.constantFrom('vivid'),
    background: fc.constantFrom('transparent', 'opaque'),
    mediaType,
    compression: fc.nat(100),
    fidelity: fc.constantFrom('high', 'low'),
    moderation: fc.constantFrom('low', 'auto'),
    previews: fc.nat(3),
    delivery: fc.constantFrom('url', 'bytes'),
    extras: record({}, { responses: fc.constant({ complexity: 'low' }), elsewhere: fc.constant({ x_a: 'a' }) }),
  },
)

export const request: fc.Arbitrary<CanonicalRequest> = record<CanonicalRequest>(
  {
    model: filled,
    messages: fc.array(message, { minLength: 1, maxLength: 3 }),
    output: record(
      { modalities: fc.constant(['image']) },
      { candidates: fc.integer({ min: 1, max: 4 }), image, verbosity: fc.constant('low') },
    ),
    sampling: record({}, { seed: fc.nat(), temperature: fc.constantFrom(0, 1), maxTokens: fc.nat(99) }),
    stream: fc.boolean(),
  },
  {
    endUser: filled,
    metadata: fc.constant({ a: 'b' }),
    tools: fc.array(tool, { minLength: 1, maxLength: 2 }),
    toolChoice: record({ mode: fc.constantFrom('auto', 'none', 'required') }),
    serviceTier: fc.constantFrom('flex', 'auto'),
    reasoning: record({}, { effort: fc.constantFrom('low', 'high') }),
    state: record({}, { store: fc.boolean() }),
    cacheKey: filled,
    cache,
    extras,
  },
)

const madeSource = fc.oneof(
  { weight: 4, arbitrary: record({ type: fc.constant('base64'), mediaType, data: bytes }) },
  record({ type: fc.constant('url'), url: fc.webUrl() }, { mediaType }),
)
const made = record<Part>(
  { type: fc.constant('media'), kind: fc.constant('image'), source: madeSource },
  { name: filled, made: looks, extras },
)
/** At least one image, and possibly text of the model. */
const content = fc
  .tuple(fc.array(fc.oneof(text, reasoning, made), { maxLength: 2 }), made, fc.option(text))
  .map(([before, one, after]) => [...before, one, ...(after === null ? [] : [after])])
const candidate = fc.oneof(
  { weight: 6, arbitrary: record({ content }, { finish, extras }) },
  record({ content: fc.array(text, { maxLength: 1 }), finish }),
)
const by = record({}, { text: count, image: count, audio: count })
const usage = record<Usage>(
  {},
  { input: count, output: count, cacheRead: count, reasoning: count, inputBy: by, outputBy: by, extras },
)

export const result: fc.Arbitrary<CanonicalResult> = fc
  .tuple(
    record<CanonicalResult>(
      { id: filled, model: filled, createdAt: fc.nat(2_000_000_000) },
      { usage: usage.map(withWholePrompt), serviceTier: fc.constantFrom('default', 'flex'), extras },
    ),
    fc.array(candidate, { maxLength: 2 }),
    record({ content, finish }),
  )
  .map(([head, others, sure]) => ({ ...head, candidates: [...others, sure] as CanonicalResult['candidates'] }))

/** A request for one image. */
export const asked: CanonicalRequest = {
  model: 'asked-model',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'a boat' }] }],
  output: { modalities: ['image'] },
  sampling: {},
  stream: false,
}

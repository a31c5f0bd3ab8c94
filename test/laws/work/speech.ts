import fc from 'fast-check'
import type { MediaPart, Part } from '../../../src/canonical/content.ts'
import type { CanonicalRequest, Message } from '../../../src/canonical/request.ts'
import type { CanonicalResult, Usage } from '../../../src/canonical/result.ts'
import { RAW_SPEECH } from '../../builders/media.ts'
import { bytes, cache, filled, media, record, word } from '../arbitrary.ts'
import { count, extras, finish, opaque } from '../work-parts.ts'

/* A text to speak, and the recording that answers it. */
const inside = extras('contents', 'chat', 'elsewhere')
const text = record<Part>({ type: fc.constant('text'), text: word }, { cache, extras: inside })
/** Mostly one text. */
const content: fc.Arbitrary<readonly Part[]> = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(text) },
  { weight: 2, arbitrary: fc.array(fc.oneof(text, media, opaque), { maxLength: 3 }) },
)
const turn = (...roles: Message['role'][]): fc.Arbitrary<Message> =>
  record<Message>({ role: fc.constantFrom(...roles), content }, { name: filled, extras: inside })

/** Mostly one instruction and one text to speak. Sometimes several of each, in any order. */
const messages: fc.Arbitrary<readonly Message[]> = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(turn('user')) },
  { weight: 3, arbitrary: fc.tuple(turn('system', 'developer'), turn('user')) },
  { weight: 2, arbitrary: fc.array(turn('system', 'developer', 'user', 'user', 'assistant'), { maxLength: 4 }) },
)

const TYPES = ['audio/mpeg', 'audio/wav', 'audio/pcm', 'audio/opus', 'audio/mp3', 'audio/L16;rate=16000', 'audio/x-new']

export const request: fc.Arbitrary<CanonicalRequest> = record<CanonicalRequest>(
  {
    model: filled,
    messages,
    output: record(
      { modalities: fc.constant(['audio']) },
      {
        candidates: fc.constant(2),
        audio: record(
          {},
          {
            voice: fc.oneof(fc.constantFrom('alloy', 'Kore'), filled),
            mediaType: fc.constantFrom(...TYPES),
            speed: fc.constantFrom(0.25, 1, 4),
            extras: extras('chat', 'elsewhere'),
          },
        ),
        text: fc.constant({ shape: 'text' }),
      },
    ),
    sampling: record({}, { temperature: fc.constantFrom(0, 1), seed: fc.nat() }),
    stream: fc.boolean(),
  },
  { endUser: filled, serviceTier: fc.constant('flex'), extras: extras('speech', 'contents', 'elsewhere') },
)

const recording = (...types: string[]): fc.Arbitrary<MediaPart> =>
  record<MediaPart>(
    {
      type: fc.constant('media'),
      kind: fc.constant('audio'),
      source: record({ type: fc.constant('base64'), mediaType: fc.constantFrom(...types), data: bytes }),
    },
    { name: filled, transcript: filled, cache, extras: extras('contents', 'elsewhere') },
  )
const PLAYABLE = ['audio/mpeg', 'audio/wav', 'audio/pcm', RAW_SPEECH]
const others = fc.oneof(record<Part>({ type: fc.constant('text'), text: filled }), recording(...PLAYABLE), opaque)
const usage: fc.Arbitrary<Usage> = record<Usage>(
  { input: count, output: count },
  { outputBy: record({}, { audio: count }), extras: extras('speech', 'contents', 'elsewhere') },
)

/** A result as the gateway passes it to a writer: with id, model, time and audio. */
export const result: fc.Arbitrary<CanonicalResult> = record<CanonicalResult>(
  {
    id: filled,
    model: filled,
    createdAt: fc.nat(2_000_000_000),
    candidates: fc.tuple(
      record(
        {
          content: fc.oneof(
            { weight: 3, arbitrary: fc.tuple(recording(...PLAYABLE)) },
            { weight: 1, arbitrary: fc.tuple(recording(RAW_SPEECH), recording(RAW_SPEECH)) },
            { weight: 1, arbitrary: fc.tuple(recording(...PLAYABLE), others) },
            { weight: 1, arbitrary: fc.tuple(others, recording(...PLAYABLE)) },
          ),
          finish,
        },
        { extras: extras('contents', 'elsewhere') },
      ),
    ),
  },
  { usage, serviceTier: fc.constant('default'), extras: extras('contents', 'elsewhere') },
)

/** A request that fits the answers. */
export const asked: CanonicalRequest = {
  model: 'asked-model',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }],
  output: { modalities: ['audio'] },
  sampling: {},
  stream: false,
}

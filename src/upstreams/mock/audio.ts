import { DEFAULT_SAMPLES, readWavHead } from '../../canonical/media/wav.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { Case } from './fixtures.ts'
import type { MockRequest } from './pick.ts'

/**
 * Returns the cases with an answer in the requested audio container or transcript format (docs/wire/speech.md); empty
 * if no recording has that container. Cases of other formats pass unchanged.
 */
export function casesFor(cases: readonly Case[], request: MockRequest, path: string): readonly Case[] {
  if (request.format === 'speech') return cases.flatMap(one => inContainer(one, request))
  if (request.format !== 'transcriptions') return cases
  const shape = shapeOf(request.body)
  const shaped = cases.filter(one => one.format === request.format && shapeOf(one.request ?? {}) === shape)
  const able = shaped.filter(one => (request.stream ? one.events : (one.result ?? one.raw)) !== undefined)
  const alike = able.filter(one => translates(one.path) === translates(path))
  return alike.length > 0 ? alike : able.length > 0 ? able : cases
}

const translates = (path: string | undefined): boolean => path?.endsWith('/translations') === true

const shapeOf = ({ response_format: shape }: JsonObject): Json => shape ?? 'json'

/**
 * Converts a recording to the requested container, and to events if they are requested; empty if the container is not
 * available.
 */
function inContainer(one: Case, { body, stream }: MockRequest): readonly Case[] {
  if (one.format !== 'speech' || one.raw === undefined) return []
  const raw = CONTAINERS[String(body['response_format'] ?? 'mp3')]?.(one.raw)
  if (raw === undefined) return []
  const { events, ...others } = one
  if (!stream) return [{ ...others, raw }]
  return [{ ...others, raw, events: raw === one.raw && events !== undefined ? events : eventsOf(raw.bytes) }]
}

type Raw = NonNullable<Case['raw']>
type Contain = (raw: Raw) => Raw | undefined

const recorded =
  (mediaType: string): Contain =>
  raw =>
    raw.mediaType === mediaType ? raw : undefined

const CONTAINERS: { readonly [name: string]: Contain | undefined } = {
  mp3: recorded('audio/mpeg'),
  wav: recorded('audio/wav'),
  pcm: samplesIn,
}

/** Extracts the samples of a WAV file if they have the sample format of `pcm`. */
function samplesIn({ bytes }: Raw): Raw | undefined {
  const head = readWavHead(bytes)
  if (head === undefined || head === 'more' || head.encoding !== 'integer' || head.bits !== 16) return undefined
  if (head.rate !== DEFAULT_SAMPLES.rate || head.channels !== DEFAULT_SAMPLES.channels) return undefined
  const { offset, size = bytes.length } = head
  return { mediaType: 'audio/pcm', bytes: bytes.subarray(offset, offset + size) }
}

/** Splits a recording into two events. */
function eventsOf(bytes: Buffer): string {
  const half = Math.ceil(bytes.length / 6) * 3
  const deltas = [bytes.subarray(0, half), bytes.subarray(half)].map(chunk => chunk.toString('base64'))
  const usage = { input_tokens: 14, output_tokens: 101, total_tokens: 115 }
  return [
    ...deltas.filter(Boolean).map(audio => ({ type: 'speech.audio.delta', audio })),
    { type: 'speech.audio.done', usage },
  ]
    .map(event => `data: ${JSON.stringify(event)}\n\n`)
    .join('')
}

const TIMES = { word: 'words', segment: 'segments' } as const

/** Removes the times that were not requested from a verbose transcript; segments are the default. */
export function timed(body: JsonObject, result: JsonObject): JsonObject {
  if (body['response_format'] !== 'verbose_json' || !isObject(result)) return result
  const granularities = [body['timestamp_granularities[]'], body['timestamp_granularities']].flat()
  const wanted = Object.keys(TIMES).filter(one => granularities.includes(one))
  const dropped = Object.entries(TIMES)
    .filter(([one]) => !(wanted.length === 0 ? ['segment'] : wanted).includes(one))
    .map(([, field]) => field as string)
  return Object.fromEntries(Object.entries(result).filter(([field]) => !dropped.includes(field)))
}

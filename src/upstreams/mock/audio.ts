import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { Case } from './fixtures.ts'
import type { MockRequest } from './pick.ts'

/**
 * Returns the cases with an answer in the requested audio container or transcript format (docs/wire/speech.md); empty
 * if no recording has that container. Cases of other formats pass unchanged.
 */
export function casesFor(cases: readonly Case[], request: MockRequest, path: string): readonly Case[] {
  if (request.format === 'speech') return cases.filter(one => isInContainer(one, request.body))
  if (request.format !== 'transcriptions') return cases
  const shape = shapeOf(request.body)
  const shaped = cases.filter(one => one.format === request.format && shapeOf(one.request ?? {}) === shape)
  const able = shaped.filter(one => (request.stream ? one.events : (one.result ?? one.raw)) !== undefined)
  const alike = able.filter(one => translates(one.path) === translates(path))
  return alike.length > 0 ? alike : able.length > 0 ? able : cases
}

const translates = (path: string | undefined): boolean => path?.endsWith('/translations') === true

const shapeOf = ({ response_format: shape }: JsonObject): Json => shape ?? 'json'

/** The media type of each container that `response_format` names. */
const CONTAINERS: { readonly [name: string]: string | undefined } = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
}

const isInContainer = ({ format, raw }: Case, { response_format: container }: JsonObject): boolean =>
  format === 'speech' && raw !== undefined && raw.mediaType === CONTAINERS[String(container ?? 'mp3')]

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

import type { Format } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { sanitizeName } from '../../egress/sanitize/names.ts'
import { READERS } from '../../ingress/index.ts'
import type { CalledStep } from './collector.ts'
import type { CallKeys } from './store.ts'
import { GistTrail } from './trail.ts'

/** The narrowest rule for ids of calls in callers' formats; applied twice, an id stays as it is (trap 46). */
const LONGEST_ID = 64

/** The key of a call by its id: the same for the id as the upstream made it and as a caller got it. */
export const idKey = (id: string): string => `id ${sanitizeName(id, LONGEST_ID)}`

/** The key of a call by its place: what stands before it, and the call itself (`GistTrail`). */
export const placeKey = (digest: string): string => `at ${digest}`
export const isPlaceKey = (key: string): boolean => key.startsWith('at ')

/** Each mark fits one place of the pattern alone, so that no id is tried in many ways. */
const COUNTED = /^(?:[^a-z0-9]*|(?:[a-z]+[^a-z0-9]+)*(?:\d{1,4}[^a-z0-9]*)?)$/i

/**
 * Whether an id only numbers the calls of its conversation, so that others have the same: `call_0_get_time`, which
 * is made where a caller leaves it out, `functions.get_time:0` of Kimi, `call_0`, the bare name of calls before tools.
 */
export const isCounted = (id: string, name: string): boolean => COUNTED.test(id.replace(name, ''))

/**
 * Every key that the calls of an answer to a request can be found under.
 *
 * @param isPlaced whether a call may have to be found by its place.
 */
export function keysOf(
  steps: readonly CalledStep[],
  { messages }: CanonicalRequest,
  isPlaced: (step: CalledStep) => boolean,
): readonly CallKeys[] {
  const gist = steps.some(isPlaced) ? new GistTrail() : undefined
  if (gist !== undefined) for (const { role, content } of messages) for (const part of content) gist.part(role, part)
  return steps.map(step => {
    gist?.call(step.name, step.arguments)
    return [
      ...(isCounted(step.id, step.name) ? [] : [idKey(step.id)]),
      ...(gist !== undefined && isPlaced(step) ? [placeKey(gist.digest)] : []),
    ]
  })
}

/** The keys under which thoughts before the calls of a request may be found that `isUnknown`. */
export function unknownKeys(
  { messages }: CanonicalRequest,
  format: Format,
  isUnknown: (key: string) => boolean,
): readonly string[] {
  const isPlaced = READERS[format]!.dropsIds === true
  const calls = messages.flatMap(({ role, content }) =>
    role === 'assistant' ? content.filter(part => part.type === 'tool-call') : [],
  )
  const byId = calls.filter(({ id, name }) => !isCounted(id, name)).map(({ id }) => idKey(id))
  const hasPlaces = calls.length > 0 && (isPlaced || byId.length < calls.length)
  return [...byId, ...(hasPlaces ? placesIn(messages, isPlaced) : [])].filter(isUnknown)
}

function placesIn(messages: CanonicalRequest['messages'], all: boolean): readonly string[] {
  const gist = new GistTrail()
  const keys: string[] = []
  for (const { role, content } of messages)
    for (const part of content) {
      gist.part(role, part)
      if (role === 'assistant' && part.type === 'tool-call' && (all || isCounted(part.id, part.name)))
        keys.push(placeKey(gist.digest))
    }
  return keys
}

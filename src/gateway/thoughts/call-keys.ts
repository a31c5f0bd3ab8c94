import type { Format } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { sanitizeName } from '../../egress/sanitize/names.ts'
import { READERS } from '../../ingress/index.ts'
import type { CalledStep } from './collector.ts'
import { GistDigest } from './conversation-digest.ts'
import type { CallKeys } from './types.ts'

/**
 * Maximum length of tool call ids in the strictest caller format, in characters. Sanitising an id a second time changes
 * nothing (trap 46).
 */
const MAX_ID_LENGTH = 64

/** Returns the key of a tool call by id. The upstream's id and the caller's sanitised id have the same key. */
export const idKey = (id: string): string => `id ${sanitizeName(id, MAX_ID_LENGTH)}`

/**
 * Returns the key of a tool call by position.
 *
 * @param digest a `GistDigest` of the conversation up to and including the call.
 */
export const positionKey = (digest: string): string => `at ${digest}`
/** Returns true if a key is the result of `positionKey`. */
export const isPositionKey = (key: string): boolean => key.startsWith('at ')

/**
 * Matches an id that only numbers its call. No character fits two neighbouring positions of the pattern, so matching
 * never backtracks far.
 */
const NUMBERED_ID = /^(?:[^a-z0-9]*|(?:[a-z]+[^a-z0-9]+)*(?:\d{1,4}[^a-z0-9]*)?)$/i

/** Matches a number with leading zeros, as Agno writes in place of ids that OpenAI or Mistral did not issue. */
const PADDED_ID = /^(?:[a-z]{1,8}_)?0{4,}[\da-f]{1,4}$/

/**
 * Returns true if an id only numbers the calls of its conversation and therefore recurs in others: `call_0_get_time`,
 * which the gateway fills in, Kimi's `functions.get_time:0`, `call_0`, Agno's `call_0000000000`, and the bare name in
 * deprecated function calls.
 */
export const isNumberedId = (id: string, name: string): boolean =>
  NUMBERED_ID.test(id.replace(name, '')) || PADDED_ID.test(id)

/**
 * Returns true if a caller of a format may return a call of an answer without its id, or with one that recurs.
 *
 * @param id of the call as it was issued.
 */
export function mayLoseId({ id, name }: Pick<CalledStep, 'id' | 'name'>, format: Format): boolean {
  const { mayOmitCallIds, vendorCallId } = READERS[format]!
  return mayOmitCallIds === true || isNumberedId(id, name) || vendorCallId?.test(id) === false
}

/**
 * Returns all keys under which the tool calls of an answer can be found.
 *
 * @param isByPosition whether a call may have to be found by its position.
 */
export function keysOf(
  steps: readonly CalledStep[],
  { messages }: CanonicalRequest,
  isByPosition: (step: CalledStep) => boolean,
): readonly CallKeys[] {
  const gist = steps.some(isByPosition) ? new GistDigest() : undefined
  if (gist !== undefined) for (const { role, content } of messages) for (const part of content) gist.part(role, part)
  return steps.map(step => {
    gist?.call(step.name, step.arguments)
    return [
      ...(isNumberedId(step.id, step.name) ? [] : [idKey(step.id)]),
      ...(gist !== undefined && isByPosition(step) ? [positionKey(gist.digest)] : []),
    ]
  })
}

/**
 * Returns the keys of a request's tool calls for which `isUnknown` returns true. The store must be searched for their
 * reasoning.
 */
export function unknownKeys(
  { messages }: CanonicalRequest,
  format: Format,
  isUnknown: (key: string) => boolean,
): readonly string[] {
  const isByPosition = READERS[format]!.mayOmitCallIds === true
  const calls = messages.flatMap(({ role, content }) =>
    role === 'assistant' ? content.filter(part => part.type === 'tool-call') : [],
  )
  const byId = calls.filter(({ id, name }) => !isNumberedId(id, name)).map(({ id }) => idKey(id))
  const needsPositions = calls.length > 0 && (isByPosition || byId.length < calls.length)
  return [...byId, ...(needsPositions ? positionKeysIn(messages, isByPosition) : [])].filter(isUnknown)
}

function positionKeysIn(messages: CanonicalRequest['messages'], all: boolean): readonly string[] {
  const gist = new GistDigest()
  const keys: string[] = []
  for (const { role, content } of messages)
    for (const part of content) {
      gist.part(role, part)
      if (role === 'assistant' && part.type === 'tool-call' && (all || isNumberedId(part.id, part.name)))
        keys.push(positionKey(gist.digest))
    }
  return keys
}

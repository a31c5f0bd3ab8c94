import type { ResultEnd, ResultStart } from '../../canonical/event.ts'
import type { Loss } from '../../canonical/loss.ts'
import type { JsonObject, Node } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import { accountName } from '../../upstreams/accounts-of-channels.ts'
import type { Target } from '../../upstreams/router.ts'
import { FORMAT as INTERACTIONS } from './interactions-format.ts'
import { STORED_FORMAT } from './items.ts'
import type { ResponseSaver } from './response-saver.ts'
import type { StoredFormat } from './stored-format.ts'

/** How an answer repeats its request, if the upstream received another form of the request or the answer is stored. */
export interface ResponseEcho {
  /** The request as the caller sent it, whose fields the answer repeats. */
  readonly request: CanonicalRequest
  /** @param isNamed whether the upstream gave the answer an id. */
  apply<T extends CanonicalResult | ResultStart | ResultEnd>(answer: T, isNamed: boolean): T
  /**
   * Stores the answer before it is sent, and returns whether that succeeded. Absent if the answer is not stored, or is
   * stored elsewhere. Never rejects.
   */
  readonly save?: (response: JsonObject) => Promise<boolean>
  /** How a stored answer is followed while it is streamed. */
  readonly format?: StoredFormat
  /** Settings of the caller that the gateway itself cannot fulfil. */
  readonly losses: readonly Loss[]
}

/** Loss of an answer that should have been stored and was not. */
export const NOT_STORED: Loss = { kind: 'dropped', path: ['state', 'store'], reason: 'not-kept' }

/** Options: how the answer is stored and repeated. */
interface EchoOptions {
  readonly saver: ResponseSaver | undefined
  /** Whether the answer should be stored but cannot be. */
  readonly isUnstored: boolean
  /** Whether the target receives the request exactly as the caller wrote it. */
  readonly isUnchanged: boolean
}

/**
 * Creates the echo for a target. A stored answer gets an id by which it can be retrieved: the upstream's id if the
 * upstream stores it, too, else the gateway's.
 */
export function responseEchoOf(request: CanonicalRequest, target: Target, how: EchoOptions): ResponseEcho {
  const { saver } = how
  saver?.setTarget(target)
  const corrections = { ...(how.isUnchanged ? {} : stateIn(request)), ...(how.isUnstored ? { store: false } : {}) }
  const id = saver === undefined || isUpstreams(target, request) ? undefined : saver.id
  return {
    request,
    apply: (answer, isNamed) => {
      const given = id ?? (isNamed && isRetrievable(answer, saver) ? undefined : saver?.id)
      const ends = 'type' in answer && answer.type === 'result-end'
      const named = given === undefined || ends ? answer : { ...answer, id: given }
      if (saver !== undefined && given !== undefined && isNamed) saver.copy ??= copyIn(answer, target, saver.format)
      if (how.isUnchanged && !how.isUnstored) return named
      return saver?.format.format === INTERACTIONS ? continuing(named, request) : repeating(named, corrections)
    },
    losses: how.isUnstored ? [NOT_STORED] : [],
    ...(saver?.saves === true ? { save: response => saver.save(response), format: saver.format } : {}),
  }
}

/** Returns the upstream's copy of an answer whose public id differs. */
function copyIn(
  answer: CanonicalResult | ResultStart | ResultEnd,
  { native, format, channel }: Target,
  storedFormat: StoredFormat,
) {
  const id = 'id' in answer ? answer.id : undefined
  if (id === undefined || !native || format.dialect['stateless'] === true) return undefined
  const background = responseIn(answer)?.['background'] === true
  return { channel: accountName(channel), id, background, format: storedFormat }
}

/** Whether the answer can be retrieved under the upstream's id. */
const isUpstreams = ({ native, format }: Target, { state }: CanonicalRequest): boolean =>
  native && format.dialect['stateless'] !== true && state?.background !== true

/** Whether an answer can be retrieved under the id that its upstream gave it. */
const isRetrievable = (answer: CanonicalResult | ResultStart | ResultEnd, saver: ResponseSaver | undefined): boolean =>
  saver === undefined || !('id' in answer) || answer.id === undefined || saver.format.isId(answer.id)

/** Returns the original response object from an upstream of the format. */
const responseIn = ({ spelling }: Node): JsonObject | undefined =>
  spelling?.[STORED_FORMAT]?.['response'] as JsonObject | undefined

/** Returns the state fields that an answer repeats from its request. */
const stateIn = ({ state }: CanonicalRequest): JsonObject => ({
  previous_response_id: state?.previous ?? null,
  ...(state?.conversation === undefined ? {} : { conversation: { id: state.conversation } }),
  ...(state?.background === undefined ? {} : { background: state.background }),
})

/** Adds the id of the interaction that an answer continues, which its upstream did not get. */
function continuing<T extends CanonicalResult | ResultStart | ResultEnd>(answer: T, { state }: CanonicalRequest): T {
  const previous = state?.previous
  if (previous === undefined || ('type' in answer && answer.type === 'result-start')) return answer
  const own = { ...answer.extras?.[INTERACTIONS], previous_interaction_id: previous }
  return { ...answer, extras: { ...answer.extras, [INTERACTIONS]: own } }
}

/** Corrects the request fields in the answer of an upstream that received another form of the request. */
function repeating<T extends CanonicalResult | ResultStart | ResultEnd>(answer: T, corrections: JsonObject): T {
  const before = responseIn(answer)
  if (before === undefined) return answer
  const fields = { ...answer.spelling?.[STORED_FORMAT], response: { ...before, ...corrections } }
  return { ...answer, spelling: { ...answer.spelling, [STORED_FORMAT]: fields } }
}

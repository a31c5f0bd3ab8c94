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

/** Repeats a request in its answer, if the upstream received another form of the request or the answer is stored. */
export interface ResponseEcho {
  /** The request as the caller sent it, whose fields the answer repeats. */
  readonly request: CanonicalRequest
  /** @param hasUpstreamId whether the upstream gave the answer an id. */
  apply<T extends CanonicalResult | ResultStart | ResultEnd>(answer: T, hasUpstreamId: boolean): T
  /**
   * Stores the answer before it is sent, and returns whether this succeeded. Absent if the answer is not stored, or is
   * stored elsewhere. Never rejects.
   */
  readonly save?: (response: JsonObject) => Promise<boolean>
  /** Format of a stored answer, for collecting it while it is streamed. */
  readonly format?: StoredFormat
  /** Losses for the caller's settings that the gateway itself cannot fulfil. */
  readonly losses: readonly Loss[]
}

/** Loss for an answer that should have been stored but was not. */
export const NOT_STORED: Loss = { kind: 'dropped', path: ['state', 'store'], reason: 'not-kept' }

/** Options of `responseEchoOf`. */
interface EchoOptions {
  readonly saver: ResponseSaver | undefined
  /** True if the answer should be stored but cannot be. */
  readonly isUnstored: boolean
  /** True if the target receives exactly the request that the caller wrote. */
  readonly isUnchanged: boolean
}

/**
 * Creates the echo for a target. A stored answer gets an id under which it can be retrieved: the upstream's id if the
 * upstream stores the answer as well, or else the gateway's id.
 */
export function responseEchoOf(request: CanonicalRequest, target: Target, options: EchoOptions): ResponseEcho {
  const { saver, isUnstored, isUnchanged } = options
  saver?.setTarget(target)
  const corrections = { ...(isUnchanged ? {} : stateIn(request)), ...(isUnstored ? { store: false } : {}) }
  const id = saver === undefined || isStoredUpstream(target, request) ? undefined : saver.id
  return {
    request,
    apply: (answer, hasUpstreamId) => {
      const newId = id ?? (hasUpstreamId && isRetrievable(answer, saver) ? undefined : saver?.id)
      const isEnd = 'type' in answer && answer.type === 'result-end'
      const answerWithId = newId === undefined || isEnd ? answer : { ...answer, id: newId }
      if (saver !== undefined && newId !== undefined && hasUpstreamId)
        saver.copy ??= copyIn(answer, target, saver.format)
      if (isUnchanged && !isUnstored) return answerWithId
      return saver?.format.format === INTERACTIONS
        ? withPrevious(answerWithId, request)
        : withCorrections(answerWithId, corrections)
    },
    losses: isUnstored ? [NOT_STORED] : [],
    ...(saver?.savesWhenSent === true ? { save: response => saver.save(response), format: saver.format } : {}),
  }
}

/** Returns the upstream's copy of an answer that has a different public id. */
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

/** Returns true if the answer can be retrieved under the upstream's id. */
const isStoredUpstream = ({ native, format }: Target, { state }: CanonicalRequest): boolean =>
  native && format.dialect['stateless'] !== true && state?.background !== true

/** Returns true if an answer can be retrieved under the id that its upstream gave it. */
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

/** Adds the id of the interaction that an answer continues, which the upstream did not receive. */
function withPrevious<T extends CanonicalResult | ResultStart | ResultEnd>(answer: T, { state }: CanonicalRequest): T {
  const previous = state?.previous
  if (previous === undefined || ('type' in answer && answer.type === 'result-start')) return answer
  const extras = { ...answer.extras?.[INTERACTIONS], previous_interaction_id: previous }
  return { ...answer, extras: { ...answer.extras, [INTERACTIONS]: extras } }
}

/** Corrects the request's fields in the answer of an upstream that received another form of the request. */
function withCorrections<T extends CanonicalResult | ResultStart | ResultEnd>(answer: T, corrections: JsonObject): T {
  const before = responseIn(answer)
  if (before === undefined) return answer
  const fields = { ...answer.spelling?.[STORED_FORMAT], response: { ...before, ...corrections } }
  return { ...answer, spelling: { ...answer.spelling, [STORED_FORMAT]: fields } }
}

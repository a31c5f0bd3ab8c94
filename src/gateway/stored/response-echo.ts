import type { ResultEnd, ResultStart } from '../../canonical/event.ts'
import type { Loss } from '../../canonical/loss.ts'
import type { JsonObject, Node } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { Target } from '../../upstreams/router.ts'
import { STORED_FORMAT } from './items.ts'
import type { Keeper } from './keeper.ts'

/** How an answer repeats its request where the upstream got another form of it, or the answer can be retrieved. */
export interface ResponseEcho {
  /** The request as the caller made it: what the answer repeats of it. */
  readonly request: CanonicalRequest
  apply<T extends CanonicalResult | ResultStart | ResultEnd>(answer: T): T
  /**
   * Stores the answer before it is sent, and gives whether that went well; absent where it is not to be stored, or is
   * stored elsewhere. Never rejects.
   */
  readonly keep?: (response: JsonObject) => Promise<boolean>
  /** Settings of the caller that the gateway, not the upstream, cannot follow. */
  readonly losses: readonly Loss[]
}

/** The answer was to be kept, and is not. */
export const NOT_KEPT: Loss = { kind: 'dropped', path: ['state', 'store'], reason: 'not-kept' }

/** The response as it is sent where it could not be stored. */
export const unkept = (response: JsonObject): JsonObject => ({ ...response, store: false })

/** What stores an answer, and how it repeats its request. */
interface Keeping {
  readonly keeper: Keeper | undefined
  /** It was to be kept and cannot be. */
  readonly unkept: boolean
  /** The target gets the request as the caller wrote it. */
  readonly asItCame: boolean
}

/** How a target's answer repeats its request, under an id it can be retrieved by: the upstream's own where that stores it, too. */
export function responseEchoOf(request: CanonicalRequest, target: Target, how: Keeping): ResponseEcho {
  const { keeper } = how
  keeper?.madeBy(target)
  const corrections = { ...(how.asItCame ? {} : stateIn(request)), ...(how.unkept ? { store: false } : {}) }
  const id = keeper === undefined || isUpstreams(target, request) ? undefined : keeper.id
  return {
    request,
    apply: answer => {
      const given = id ?? (isAnonymous(answer) ? keeper?.id : undefined)
      const ends = 'type' in answer && answer.type === 'result-end'
      const named = given === undefined || ends ? answer : { ...answer, id: given }
      if (keeper !== undefined && id !== undefined) keeper.copy ??= copyIn(answer, target)
      return how.asItCame && !how.unkept ? named : repeating(named, corrections)
    },
    losses: how.unkept ? [NOT_KEPT] : [],
    ...(keeper?.saves === true ? { keep: response => keeper.keep(response) } : {}),
  }
}

/** What the upstream keeps of the answer, under an id that is not the caller's. */
function copyIn(answer: CanonicalResult | ResultStart | ResultEnd, { native, format, channel }: Target) {
  const id = 'id' in answer ? answer.id : undefined
  if (id === undefined || !native || format.dialect['stateless'] === true) return undefined
  const background = responseIn(answer)?.['background'] === true
  return { channel: channel.name, id, background }
}

/** Whether the upstream's own id is one to ask for the answer by. */
const isUpstreams = ({ native, format }: Target, { state }: CanonicalRequest): boolean =>
  native && format.dialect['stateless'] !== true && state?.background !== true

/** The upstream gave its answer no name. */
function isAnonymous(answer: Node): boolean {
  const response = responseIn(answer)
  return response !== undefined && response['id'] == null
}

/** The response object of an upstream of the format. */
const responseIn = ({ spelling }: Node): JsonObject | undefined =>
  spelling?.[STORED_FORMAT]?.['response'] as JsonObject | undefined

/** What an answer repeats of a request's state. */
const stateIn = ({ state }: CanonicalRequest): JsonObject => ({
  previous_response_id: state?.previous ?? null,
  ...(state?.conversation === undefined ? {} : { conversation: { id: state.conversation } }),
  ...(state?.background === undefined ? {} : { background: state.background }),
})

/** Corrects what an upstream of the format repeats: it got another form of the request than the caller's. */
function repeating<T extends CanonicalResult | ResultStart | ResultEnd>(answer: T, corrections: JsonObject): T {
  const before = responseIn(answer)
  if (before === undefined) return answer
  const own = { ...answer.spelling?.[STORED_FORMAT], response: { ...before, ...corrections } }
  return { ...answer, spelling: { ...answer.spelling, [STORED_FORMAT]: own } }
}

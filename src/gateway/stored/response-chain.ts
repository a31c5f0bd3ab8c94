import { type CanonicalError, type ErrorKind, invalid } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, State } from '../../canonical/request.ts'
import { accountName } from '../../upstreams/accounts-of-channels.ts'
import { preferring, type Target } from '../../upstreams/router.ts'
import { STORED_FORMAT } from './items.ts'
import type { ResolvedReferences, StoredItems } from './resolve-references.ts'
import { type ResponseEcho, responseEchoOf } from './response-echo.ts'
import type { ResponseSaver } from './response-saver.ts'
import { withoutTruncation } from './truncate.ts'

export interface ResponseChainOptions {
  /** The request as the caller sent it. */
  readonly request: CanonicalRequest
  /** The request in the form that the answer repeats. */
  readonly echoedRequest: CanonicalRequest
  /** The resolved references of the request. */
  readonly references: ResolvedReferences | undefined
  /** Stores the answer, if it should be stored. */
  readonly saver: ResponseSaver | undefined
  /** True if the gateway stores responses, so that no upstream has to. */
  readonly gatewayStores: boolean
  /** True if it is known before the request is sent that the answer should be stored but cannot be. */
  readonly isUnstored: boolean
  /**
   * Request with its full history, truncated to the model's context, or undefined if truncation is off or impossible.
   */
  readonly truncated: CanonicalRequest | undefined
  read(body: JsonObject): CanonicalRequest
}

/**
 * A request that may continue stored turns. Decides in which form each upstream receives it and how its answer is
 * stored.
 */
export class ResponseChain {
  readonly saver: ResponseSaver | undefined
  private readonly options: ResponseChainOptions
  private foreignForm: CanonicalRequest | undefined
  private readonly forms = new Map<Target, CanonicalRequest>()
  /** Accounts whose upstream has forgotten the referenced turns. */
  private readonly forgetfulAccounts = new Set<string>()

  constructor(options: ResponseChainOptions) {
    this.options = options
    this.saver = options.saver
  }

  /** True if the answer should be stored but cannot be. */
  get isUnstored(): boolean {
    return this.options.isUnstored
  }

  /** Request for estimates, including its known history. */
  get fullRequest(): CanonicalRequest {
    return this.options.references?.isResolved === false ? this.options.request : this.forForeign()
  }

  /**
   * Returns the targets that can serve the request, first those that remember its history.
   *
   * @throws GatewayError such as `previous_response_not_found` if no target can.
   */
  eligibleTargets(targets: readonly Target[]): readonly Target[] {
    const { references } = this.options
    if (references === undefined) return targets
    const eligible = targets.filter(target => this.remembersHistory(target) || this.canServe(target))
    if (eligible.length === 0) throw references.missing
    return preferring(eligible, target => this.remembersHistory(target))
  }

  /** Returns the request in the form for a target. The same object if unchanged. */
  targetRequest(target: Target): CanonicalRequest {
    return this.forms.getOrInsertComputed(target, () => this.formFor(target))
  }

  /**
   * Returns true if a target failed only because its upstream forgot the referenced turns, and all of them are stored
   * here. The target then receives the full history and may be tried once more.
   */
  recordForgotten(target: Target, error: CanonicalError): boolean {
    const { references } = this.options
    if (references?.isResolved !== true || !this.remembersHistory(target)) return false
    if (!isForgotten(error, references.referencedIds)) return false
    this.forgetfulAccounts.add(accountName(target.channel))
    this.forms.delete(target)
    return true
  }

  /** Returns the stored items that precede the caller's items in the target's request. */
  stored(target: Target): StoredItems | undefined {
    const { references } = this.options
    return references?.isResolved === true && !isOfFormat(target) ? references.stored : undefined
  }

  private formFor(target: Target): CanonicalRequest {
    if (!isOfFormat(target)) return this.forForeign()
    const { references, request, read } = this.options
    if (references === undefined || this.remembersHistory(target)) return this.inForeground(request)
    return this.inForeground(
      references.isResolved ? read(references.resolvedBody(accountName(target.channel))) : request,
    )
  }

  /** Returns the echo of the request in the target's answer. */
  echo(target: Target): ResponseEcho {
    const { request, echoedRequest, saver, isUnstored } = this.options
    // Upstreams of the format truncate long requests themselves. For all others, the gateway does.
    const isShortened = isOfFormat(target) || this.options.truncated !== undefined
    const shown = isShortened ? echoedRequest : withoutTruncation(echoedRequest)
    return responseEchoOf(shown, target, { saver, isUnstored, isUnchanged: this.targetRequest(target) === request })
  }

  private remembersHistory(target: Target): boolean {
    const name = accountName(target.channel)
    return isOfFormat(target) && !this.forgetfulAccounts.has(name) && this.options.references?.channel === name
  }

  private canServe(target: Target): boolean {
    const { references } = this.options
    return references?.isResolved === true || (isOfFormat(target) && references?.mayForward === true)
  }

  /** Removes `background` if the gateway stores the result. The gateway then runs the background work itself. */
  private inForeground(request: CanonicalRequest): CanonicalRequest {
    if (request.state?.background !== true || !this.options.gatewayStores) return request
    const { background: _, ...state } = request.state
    return withState(request, state)
  }

  private forForeign(): CanonicalRequest {
    if (this.foreignForm !== undefined) return this.foreignForm
    const { references, request, read, gatewayStores, truncated } = this.options
    const whole = truncated ?? (references?.isResolved === true ? read(references.resolvedBody()) : request)
    return (this.foreignForm = gatewayStores
      ? withState(whole, whole.state?.store === false ? { store: false } : undefined)
      : whole)
  }
}

/** Returns true if the target is of the format and receives the request without emulation. */
const isOfFormat = ({ native, emulated }: Target): boolean => native && !emulated

function withState(request: CanonicalRequest, state: State | undefined): CanonicalRequest {
  if (request.state === state) return request
  const { state: _, ...rest } = request
  return state === undefined ? rest : { ...rest, state }
}

/**
 * Error kinds that may mean a forgotten reference. An error in a stream has no status and is therefore read as
 * `upstream-failed`.
 */
const AMBIGUOUS_KINDS: ReadonlySet<ErrorKind> = new Set(['not-found', 'invalid-request', 'upstream-failed'])
const FORGOTTEN_CODES: ReadonlySet<string | undefined> = new Set([
  ...['previous_response_not_found', 'response_not_found', 'item_not_found', 'conversation_not_found'],
])
const REFERENCE_PARAM = /^(?:previous_response_id|previous_interaction_id|conversation)\b/
const REFERENCE_TEXT = /previous[ _](?:response|interaction)/i
const MODEL_TEXT = /\bmodel\b/i

/**
 * Returns true if an upstream's error means that it cannot resolve a reference, because it forgot the turn or stores
 * nothing. Recognises codes and texts of OpenAI, Azure, vLLM and xAI. A 404 from an endpoint and model that exist has
 * no other meaning.
 *
 * @param names the ids that the request refers to.
 */
function isForgotten({ kind, code, param, message }: CanonicalError, names: readonly string[]): boolean {
  if (!AMBIGUOUS_KINDS.has(kind)) return false
  if (FORGOTTEN_CODES.has(code) || REFERENCE_PARAM.test(param ?? '') || REFERENCE_TEXT.test(message)) return true
  if (names.some(name => message.includes(name))) return true
  return kind === 'not-found' && code !== 'model_not_found' && !MODEL_TEXT.test(message)
}

/**
 * Returns the targets that can resolve the stored prompt that a request refers to, or all targets if there is no such
 * reference. The prompt is stored at an upstream. Without it, the model would receive a different request.
 *
 * @throws GatewayError `invalid-request` if no target can.
 */
export function withStoredPrompt(targets: readonly Target[], request: CanonicalRequest): readonly Target[] {
  if (request.extras?.[STORED_FORMAT]?.['prompt'] == null) return targets
  const eligible = targets.filter(isOfFormat)
  if (eligible.length > 0) return eligible
  throw invalid(
    '`prompt` refers to a prompt stored at an upstream, and no upstream of this model stores prompts.',
    'prompt',
    'unsupported_parameter',
  )
}

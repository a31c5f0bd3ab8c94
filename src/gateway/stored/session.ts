import { type CanonicalError, type ErrorKind, invalid } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, State } from '../../canonical/request.ts'
import { preferring, type Target } from '../../upstreams/router.ts'
import { STORED_FORMAT } from './items.ts'
import type { Keeper } from './keeper.ts'
import type { ResolvedReferences, Stored } from './resolve-references.ts'
import { type ResponseEcho, responseEchoOf } from './response-echo.ts'
import { unshortened } from './truncate.ts'

export interface SessionOptions {
  /** The request as the caller sent it. */
  readonly request: CanonicalRequest
  /** The request as the answer repeats it. */
  readonly repeated: CanonicalRequest
  /** The resolved references of the request. */
  readonly recalled: ResolvedReferences | undefined
  /** Stores the answer, if it is to be stored. */
  readonly keeper: Keeper | undefined
  /** Whether the gateway stores responses, so that no upstream has to. */
  readonly keeps: boolean
  /** Whether the answer should be stored but cannot be, as known before the request is sent. */
  readonly unkept: boolean
  /**
   * The request with its full history, truncated to the model's context; absent if truncation is off or not possible.
   */
  readonly shortened: CanonicalRequest | undefined
  read(body: JsonObject): CanonicalRequest
}

/** A request that may continue stored turns: decides which form each upstream receives and what stores the answer. */
export class Session {
  readonly keeper: Keeper | undefined
  private readonly options: SessionOptions
  private foreign: CanonicalRequest | undefined
  private readonly forms = new Map<Target, CanonicalRequest>()
  /** Channels whose upstream has forgotten the referenced turns. */
  private readonly forgetful = new Set<string>()

  constructor(options: SessionOptions) {
    this.options = options
    this.keeper = options.keeper
  }

  /** Whether the answer should be stored but cannot be. */
  get unkept(): boolean {
    return this.options.unkept
  }

  /** The request used for estimates, including its known history. */
  get whole(): CanonicalRequest {
    return this.options.recalled?.known === false ? this.options.request : this.forForeign()
  }

  /**
   * The targets that can take the request; those that remember its history come first.
   *
   * @throws GatewayError such as `previous_response_not_found` if there is none.
   */
  among(targets: readonly Target[]): readonly Target[] {
    const { recalled } = this.options
    if (recalled === undefined) return targets
    const able = targets.filter(target => this.isRemembered(target) || this.canTake(target))
    if (able.length === 0) throw recalled.missing
    return preferring(able, target => this.isRemembered(target))
  }

  /** The request in the form for a target; the same object if it is unchanged. */
  form(target: Target): CanonicalRequest {
    return this.forms.getOrInsertComputed(target, () => this.formFor(target))
  }

  /**
   * Whether a target failed only because its upstream forgot the referenced turns, all of which are stored here. The
   * target then receives the full history and may be tried once more.
   */
  forgot(target: Target, error: CanonicalError): boolean {
    const { recalled } = this.options
    if (recalled?.known !== true || !this.isRemembered(target)) return false
    if (!isForgotten(error, recalled.names)) return false
    this.forgetful.add(target.channel.name)
    this.forms.delete(target)
    return true
  }

  /** The stored items placed before the caller's items in the target's request. */
  stored(target: Target): Stored | undefined {
    const { recalled } = this.options
    return recalled?.known === true && !isOfFormat(target) ? recalled.stored : undefined
  }

  private formFor(target: Target): CanonicalRequest {
    if (!isOfFormat(target)) return this.forForeign()
    const { recalled, request, read } = this.options
    if (recalled === undefined || this.isRemembered(target)) return this.inForeground(request)
    return this.inForeground(recalled.known ? read(recalled.whole(target.channel.name)) : request)
  }

  /** How the target's answer repeats the request. */
  echo(target: Target): ResponseEcho {
    const { request, repeated, keeper, unkept } = this.options
    // Upstreams of the format truncate long requests themselves; for others the gateway does.
    const isShortened = isOfFormat(target) || this.options.shortened !== undefined
    const shown = isShortened ? repeated : unshortened(repeated)
    return responseEchoOf(shown, target, { keeper, unkept, asItCame: this.form(target) === request })
  }

  private isRemembered(target: Target): boolean {
    const { name } = target.channel
    return isOfFormat(target) && !this.forgetful.has(name) && this.options.recalled?.channel === name
  }

  private canTake(target: Target): boolean {
    const { recalled } = this.options
    return recalled?.known === true || (isOfFormat(target) && recalled?.mayPass === true)
  }

  /**
   * Removes `background` if the gateway stores the result, because the gateway then runs the background work itself.
   */
  private inForeground(request: CanonicalRequest): CanonicalRequest {
    if (request.state?.background !== true || !this.options.keeps) return request
    const { background: _, ...state } = request.state
    return withState(request, state)
  }

  private forForeign(): CanonicalRequest {
    if (this.foreign !== undefined) return this.foreign
    const { recalled, request, read, keeps, shortened } = this.options
    const whole = shortened ?? (recalled?.known === true ? read(recalled.whole()) : request)
    return (this.foreign = keeps
      ? withState(whole, whole.state?.store === false ? { store: false } : undefined)
      : whole)
  }
}

/** Whether the target is of the format and receives the request without emulation. */
const isOfFormat = ({ native, emulated }: Target): boolean => native && !emulated

function withState(request: CanonicalRequest, state: State | undefined): CanonicalRequest {
  if (request.state === state) return request
  const { state: _, ...rest } = request
  return state === undefined ? rest : { ...rest, state }
}

/**
 * Error kinds that may mean a forgotten reference. An error in a stream has no status, so it reads as
 * `upstream-failed`.
 */
const MAY_SAY: ReadonlySet<ErrorKind> = new Set(['not-found', 'invalid-request', 'upstream-failed'])
const CODES: ReadonlySet<string | undefined> = new Set([
  ...['previous_response_not_found', 'response_not_found', 'item_not_found', 'conversation_not_found'],
])
const PARAM = /^(?:previous_response_id|conversation)\b/
const WORDS = /previous[ _]response/i
const MODEL = /\bmodel\b/i

/**
 * Whether an upstream's error means that it cannot resolve a reference, because it forgot the turn or stores nothing.
 * Codes and texts are those of OpenAI, Azure, vLLM and xAI; a 404 from an endpoint and model that exist has no other
 * meaning.
 *
 * @param names the ids that the request refers to.
 */
function isForgotten({ kind, code, param, message }: CanonicalError, names: readonly string[]): boolean {
  if (!MAY_SAY.has(kind)) return false
  if (CODES.has(code) || PARAM.test(param ?? '') || WORDS.test(message)) return true
  if (names.some(name => message.includes(name))) return true
  return kind === 'not-found' && code !== 'model_not_found' && !MODEL.test(message)
}

/**
 * The targets that can resolve the prompt a request refers to. The prompt is stored at an upstream, and without it the
 * model would get a different request. Returns every target for a request without such a reference.
 *
 * @throws GatewayError `invalid-request` if there is none.
 */
export function withStoredPrompt(targets: readonly Target[], request: CanonicalRequest): readonly Target[] {
  if (request.extras?.[STORED_FORMAT]?.['prompt'] == null) return targets
  const able = targets.filter(isOfFormat)
  if (able.length > 0) return able
  throw invalid(
    '`prompt` refers to a prompt stored at an upstream, and no upstream of this model stores prompts.',
    'prompt',
    'unsupported_parameter',
  )
}

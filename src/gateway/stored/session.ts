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
  /** As the caller made it. */
  readonly request: CanonicalRequest
  /** As the answer repeats it. */
  readonly repeated: CanonicalRequest
  /** What it points at. */
  readonly recalled: ResolvedReferences | undefined
  /** Keeps the answer, where it is to be kept. */
  readonly keeper: Keeper | undefined
  /** The gateway stores what is to be stored, so that no upstream has to. */
  readonly keeps: boolean
  /** The answer was to be stored and cannot be, which is known before the request is sent. */
  readonly unkept: boolean
  /** With all that is known to come before it, as much of it as the model has room for; absent where that is all of it. */
  readonly shortened: CanonicalRequest | undefined
  read(body: JsonObject): CanonicalRequest
}

/** A request that may continue stored turns: which form each upstream gets, and what stores the answer. */
export class Session {
  readonly keeper: Keeper | undefined
  private readonly options: SessionOptions
  private foreign: CanonicalRequest | undefined
  private readonly forms = new Map<Target, CanonicalRequest>()
  /** Channels whose upstream turned out not to remember. */
  private readonly forgetful = new Set<string>()

  constructor(options: SessionOptions) {
    this.options = options
    this.keeper = options.keeper
  }

  /** The answer was to be kept and cannot be. */
  get unkept(): boolean {
    return this.options.unkept
  }

  /** The request as it is weighed: with all that is known to come before it. */
  get whole(): CanonicalRequest {
    return this.options.recalled?.known === false ? this.options.request : this.forForeign()
  }

  /**
   * The targets that can take the request, those that remember its history before equals.
   *
   * @throws GatewayError `previous_response_not_found` and its like where there is none.
   */
  among(targets: readonly Target[]): readonly Target[] {
    const { recalled } = this.options
    if (recalled === undefined) return targets
    const able = targets.filter(target => this.isRemembered(target) || this.canTake(target))
    if (able.length === 0) throw recalled.missing
    return preferring(able, target => this.isRemembered(target))
  }

  /** The request as this target gets it; the very same object where it is as it came. */
  form(target: Target): CanonicalRequest {
    return this.forms.getOrInsertComputed(target, () => this.formFor(target))
  }

  /**
   * Whether a target failed only because its upstream has forgotten what is referred to, and all of it is stored here:
   * from then on the target gets it in full, and may be tried once more.
   */
  forgot(target: Target, error: CanonicalError): boolean {
    const { recalled } = this.options
    if (recalled?.known !== true || !this.isRemembered(target)) return false
    if (!isForgotten(error, recalled.names)) return false
    this.forgetful.add(target.channel.name)
    this.forms.delete(target)
    return true
  }

  /** What stands before the caller's own items in the target's request. */
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

  /** How this target's answer repeats the request. */
  echo(target: Target): ResponseEcho {
    const { request, repeated, keeper, unkept } = this.options
    // Upstreams of the format shorten what is too long; for others the gateway does.
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

  /** The gateway works in the background itself, where it stores the result: upstreams do not. */
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

/** The request goes to an upstream of the format, as a request of its own. */
const isOfFormat = ({ native, emulated }: Target): boolean => native && !emulated

function withState(request: CanonicalRequest, state: State | undefined): CanonicalRequest {
  if (request.state === state) return request
  const { state: _, ...rest } = request
  return state === undefined ? rest : { ...rest, state }
}

/** A stream has no status that distinguishes a failure of the upstream from one of the request. */
const MAY_SAY: ReadonlySet<ErrorKind> = new Set(['not-found', 'invalid-request', 'upstream-failed'])
const CODES: ReadonlySet<string | undefined> = new Set([
  ...['previous_response_not_found', 'response_not_found', 'item_not_found', 'conversation_not_found'],
])
const PARAM = /^(?:previous_response_id|conversation)\b/
const WORDS = /previous[ _]response/i
const MODEL = /\bmodel\b/i

/**
 * Whether an upstream's error means that it cannot resolve what a request refers to: it has forgotten it, or stores nothing.
 * Codes and words are those of OpenAI, Azure, vLLM and xAI; a 404 of one that knew the endpoint and the model means nothing else.
 *
 * @param names the ids the request points at.
 */
function isForgotten({ kind, code, param, message }: CanonicalError, names: readonly string[]): boolean {
  if (!MAY_SAY.has(kind)) return false
  if (CODES.has(code) || PARAM.test(param ?? '') || WORDS.test(message)) return true
  if (names.some(name => message.includes(name))) return true
  return kind === 'not-found' && code !== 'model_not_found' && !MODEL.test(message)
}

/**
 * The targets that can look up the prompt a request refers to: it is stored at an upstream, and without it
 * the model would get another request. All of them where it points at none.
 *
 * @throws GatewayError `invalid-request` where none can.
 */
export function withStoredPrompt(targets: readonly Target[], request: CanonicalRequest): readonly Target[] {
  if (request.extras?.[STORED_FORMAT]?.['prompt'] == null) return targets
  const able = targets.filter(isOfFormat)
  if (able.length > 0) return able
  throw invalid(
    '`prompt` points at a prompt stored at an upstream, and no upstream of this model has any.',
    'prompt',
    'unsupported_parameter',
  )
}

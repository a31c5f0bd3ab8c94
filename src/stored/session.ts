import type { CanonicalError } from '../canonical/error.ts'
import type { JsonObject } from '../canonical/node.ts'
import type { CanonicalRequest, State } from '../canonical/request.ts'
import type { Candidate } from '../router.ts'
import type { Keeper } from './keeper.ts'
import type { ResolvedReferences, Stored } from './resolve-references.ts'

export type { Stored } from './resolve-references.ts'

import { type ResponseEcho, responseEchoOf } from './response-echo.ts'
import { unshortened } from './truncate.ts'
import { isForgotten } from './upstream-memory.ts'

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
  private readonly forms = new Map<Candidate, CanonicalRequest>()
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
   * The candidates that can take the request, those that remember its history before equals.
   *
   * @throws GatewayError `previous_response_not_found` and its like where there is none.
   */
  among(candidates: readonly Candidate[]): readonly Candidate[] {
    const { recalled } = this.options
    if (recalled === undefined) return candidates
    const able = candidates.filter(candidate => this.isRemembered(candidate) || this.canTake(candidate))
    if (able.length === 0) throw recalled.missing
    return able.toSorted(
      (a, b) =>
        Number(a.resting) - Number(b.resting) ||
        a.channel.priority - b.channel.priority ||
        Number(this.isRemembered(b)) - Number(this.isRemembered(a)),
    )
  }

  /** The request as this candidate gets it; the very same object where it is as it came. */
  form(candidate: Candidate): CanonicalRequest {
    const known = this.forms.get(candidate)
    if (known !== undefined) return known
    const form = this.formFor(candidate)
    this.forms.set(candidate, form)
    return form
  }

  /**
   * Whether a candidate failed only because its upstream has forgotten what is referred to, and all of it is stored here:
   * from then on the candidate gets it in full, and may be tried once more.
   */
  forgot(candidate: Candidate, error: CanonicalError): boolean {
    const { recalled } = this.options
    if (recalled?.known !== true || !this.isRemembered(candidate)) return false
    if (!isForgotten(error, recalled.names)) return false
    this.forgetful.add(candidate.channel.name)
    this.forms.delete(candidate)
    return true
  }

  /** What stands before the caller's own items in the candidate's request. */
  stored({ native, emulated }: Candidate): Stored | undefined {
    const { recalled } = this.options
    return recalled?.known === true && (!native || emulated) ? recalled.stored : undefined
  }

  private formFor(candidate: Candidate): CanonicalRequest {
    if (!candidate.native || candidate.emulated) return this.forForeign()
    const { recalled, request, read } = this.options
    if (recalled === undefined || this.isRemembered(candidate)) return this.inForeground(request)
    return this.inForeground(recalled.known ? read(recalled.whole(candidate.channel.name)) : request)
  }

  /** How this candidate's answer repeats the request. */
  echo(candidate: Candidate): ResponseEcho {
    const { request, repeated, keeper, unkept } = this.options
    const shown = this.isShortenedBy(candidate) ? repeated : unshortened(repeated)
    return responseEchoOf(shown, candidate, { keeper, unkept, asItCame: this.form(candidate) === request })
  }

  /** Upstreams of the format shorten what is too long; for others the gateway does. */
  private isShortenedBy({ native, emulated }: Candidate): boolean {
    return (native && !emulated) || this.options.shortened !== undefined
  }

  private isRemembered({ native, emulated, channel }: Candidate): boolean {
    if (!native || emulated || this.forgetful.has(channel.name)) return false
    return this.options.recalled?.channel === channel.name
  }

  private canTake({ native, emulated }: Candidate): boolean {
    const { recalled } = this.options
    return recalled?.known === true || (native && !emulated && recalled?.mayPass === true)
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

function withState(request: CanonicalRequest, state: State | undefined): CanonicalRequest {
  if (request.state === state) return request
  const { state: _, ...rest } = request
  return state === undefined ? rest : { ...rest, state }
}

import type { IncomingMessage } from 'node:http'
import { type Access, type Allowance, type Caller, checkDoor, type ExpectedTokens } from '../accounts/index.ts'
import type { Limits } from '../accounts/limits/index.ts'
import type { MediaKind, MediaPart } from '../canonical/content.ts'
import type { Format } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { type Work, workOf } from '../canonical/work.ts'
import { WRITERS } from '../egress/index.ts'
import { addRateLimits } from '../egress/transport/rate-limit.ts'
import type { Call, HeaderSource } from './call.ts'
import type { Outcome } from './report.ts'

/**
 * The caller whose key a request carries; a promise where an unknown key is looked for in the store.
 *
 * @param addressOf the IP address the request came from.
 * @param door the format of its endpoint, where it is the endpoint of one.
 * @throws GatewayError `unauthenticated`, or `forbidden` where the door is closed to the key.
 */
export function authenticate(
  access: Access,
  addressOf: (message: IncomingMessage) => string,
  { as, message, queryKey }: Pick<Call, 'message' | 'queryKey' | 'as'>,
  door?: Format,
): Caller | Promise<Caller> {
  const caller = as ?? access.find({ headers: message.headers, queryKey }, () => addressOf(message))
  return caller instanceof Promise ? caller.then(found => through(found, door)) : through(caller, door)
}

function through(caller: Caller, door: Format | undefined): Caller {
  if (door !== undefined) checkDoor(caller.permissions, door)
  return caller
}

/** A request's share in the limits of its key; the headers of its answer state what is left of them. */
export function allowanceOf(
  limits: Limits,
  caller: Caller,
  { reply, format }: Pick<Call, 'reply' | 'format'>,
): Allowance {
  const allowance = limits.of(caller.id, caller.permissions.limits)
  reply.rateHeaders = new RateHeaders(allowance, format)
  return allowance
}

/** Counts what a request used, as its row has it; what nothing can be said of counts as expected. */
export function settle(allowance: Allowance, { spent, row }: Outcome): void {
  if (spent === undefined) allowance.settleUncounted()
  else allowance.settle(spent, row.cost, row.estimated !== true)
}

/** What is left of a key's limits, as headers of the caller's format. */
class RateHeaders implements HeaderSource {
  private readonly allowance: Allowance
  private readonly format: Format

  constructor(allowance: Allowance, format: Format) {
    this.allowance = allowance
    this.format = format
  }

  addTo(head: { [name: string]: string }): void {
    const add = WRITERS[this.format]!.addRateLimits ?? addRateLimits
    add(head, this.allowance.left, Date.now())
  }
}

/** Bytes of text for a token: four letters of English, or a good character of Chinese. */
const TEXT_BYTES = 4
/** A picture, and anything that only its address is known of. */
const PICTURE = 1000
/** Bytes of other media for a token, rather few. */
const MEDIA_BYTES: { readonly [K in MediaKind]: number } = { image: 40, file: 40, audio: 500, video: 800 }

/** What is answered in no tokens. */
const WITHOUT_OUTPUT: ReadonlySet<Work> = new Set(['embedding', 'ranking', 'transcription'])

/**
 * About how many tokens a request will cost, by its size alone: what is reserved of its key's limit until the upstream
 * has counted. Linear in the request, and no vocabulary is loaded for it.
 */
export function expectedTokens(request: CanonicalRequest): ExpectedTokens {
  const work = workOf(request)
  if (work === 'count') return { input: 0, output: 0 }
  const { messages, tools, sampling, output } = request
  const input = tokensOf(messages) + tokensOf(tools)
  if (WITHOUT_OUTPUT.has(work)) return { input, output: 0 }
  const most = sampling?.maxTokens
  // Callers may write any number; whether it is valid, the upstream decides.
  return most === undefined ? { input } : { input, output: Math.max(0, most) * Math.max(1, output.candidates ?? 1) }
}

/** A bound on the input of a request, by the size of its body; undefined where that is unknown. */
export function inputTokensAtMost({ headers }: IncomingMessage): number | undefined {
  const size = headers['content-encoding'] === undefined ? Number(headers['content-length']) : Number.NaN
  return size >= 0 ? size / TEXT_BYTES : undefined
}

function tokensOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) / TEXT_BYTES
  if (typeof value !== 'object' || value === null) return 0
  if (isMedia(value)) return tokensOfMedia(value)
  let sum = 0
  if (Array.isArray(value)) for (const one of value) sum += tokensOf(one)
  else for (const name in value) sum += name.length / TEXT_BYTES + tokensOf((value as Record<string, unknown>)[name])
  return sum
}

const isMedia = (value: { readonly type?: unknown; readonly source?: unknown }): value is MediaPart =>
  value.type === 'media' && typeof value.source === 'object'

function tokensOfMedia({ kind, source }: MediaPart): number {
  if (source.type === 'text') return tokensOf(source.text)
  if (kind === 'image' || source.type !== 'base64') return PICTURE
  return (source.data.length * 0.75) / MEDIA_BYTES[kind]
}

import type { IncomingMessage } from 'node:http'
import {
  type Access,
  type Caller,
  checkFormat,
  type ExpectedTokens,
  type MaybePromise,
  type Reservation,
} from '../accounts/index.ts'
import type { Limits } from '../accounts/limits/index.ts'
import type { MediaKind, MediaPart } from '../canonical/content.ts'
import type { Format } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { type Work, workOf } from '../canonical/work.ts'
import { WRITERS } from '../egress/index.ts'
import { addRateLimits } from '../egress/transport/rate-limit.ts'
import type { RoutedChannel } from '../upstreams/router.ts'
import type { Call, HeaderSource } from './call.ts'
import type { Outcome } from './report.ts'
import type { Submission } from './tasks/submission.ts'
import type { Incoming } from './types.ts'
import type { UsageRecorder } from './usage-recorder.ts'

/**
 * Finds the caller by the key in a request. Returns a promise only for a key that is not in memory and must be looked
 * up in the store.
 *
 * @param addressOf returns the IP address that the request came from.
 * @param format the endpoint's format, if the endpoint belongs to one.
 * @throws GatewayError `unauthenticated`, or `forbidden` if the key may not use the format.
 */
export function authenticate(
  access: Access,
  addressOf: (message: IncomingMessage) => string,
  { as, message, queryKey }: Pick<Call, 'message' | 'queryKey' | 'as'>,
  format?: Format,
): Caller | Promise<Caller> {
  const caller = as ?? access.find({ headers: message.headers, queryKey }, () => addressOf(message))
  return caller instanceof Promise
    ? caller.then(found => withFormatCheck(found, format))
    : withFormatCheck(caller, format)
}

function withFormatCheck(caller: Caller, format: Format | undefined): Caller {
  if (format !== undefined) checkFormat(caller.permissions, format)
  return caller
}

/**
 * Creates a request's reservation in the limits of its key, and adds rate-limit headers with the remaining amounts to
 * the reply.
 */
export function reservationOf(
  limits: Limits,
  caller: Caller,
  { reply, format }: Pick<Call, 'reply' | 'format'>,
): Reservation {
  const reservation = limits.of(caller.id, caller.permissions.limits)
  reply.rateHeaders = new RateHeaders(reservation, format)
  return reservation
}

/**
 * Records and reserves the cost of a remix. Its model and length are known only when its original was found, after the
 * request entered.
 *
 * @throws GatewayError `rate-limited` if a budget does not cover the cost. With remote counts, the promise rejects with
 * it.
 */
export function coverRemix(
  { report, caller }: Pick<Incoming, 'report' | 'caller'>,
  { billedRemix: remix }: Submission,
  { recorder, channels }: { readonly recorder: UsageRecorder; readonly channels: AllChannels },
): MaybePromise {
  if (remix === undefined) return undefined
  report.recordRequest(remix)
  return report.reservation?.cover(tokens => recorder.estimate(tokens, remix, caller, channels.all))
}

interface AllChannels {
  readonly all: readonly RoutedChannel[]
}

/** Charges a request's usage to its limits. Keeps the reserved amount if the usage cannot even be estimated. */
export function settle(reservation: Reservation, { spent, row }: Outcome): void {
  if (spent === undefined) reservation.settleUncounted()
  else reservation.settle(spent, row.cost, row.estimated !== true)
}

/** Writes the remaining limits of a key as headers of the caller's format. */
class RateHeaders implements HeaderSource {
  private readonly reservation: Reservation
  private readonly format: Format

  constructor(reservation: Reservation, format: Format) {
    this.reservation = reservation
    this.format = format
  }

  addTo(head: { [name: string]: string }): void {
    const add = WRITERS[this.format]!.addRateLimits ?? addRateLimits
    add(head, this.reservation.remaining, Date.now())
  }
}

/** Number of bytes of text per token: about four English letters, or slightly more than one Chinese character. */
const BYTES_PER_TOKEN = 4
/** Number of tokens of an image, and of any media whose bytes are not in the request. */
const IMAGE_TOKENS = 1000
/**
 * Number of bytes per token of other media. The values are deliberately low, so that the estimate errs on the high
 * side.
 */
const MEDIA_BYTES_PER_TOKEN: { readonly [K in MediaKind]: number } = { image: 40, file: 40, audio: 500, video: 800 }

/** Kinds of work whose answers contain no output tokens. */
const WORK_WITHOUT_OUTPUT: ReadonlySet<Work> = new Set(['embedding', 'ranking', 'transcription'])

/**
 * Estimates the tokens of a request from its size alone. The estimate is reserved from the key's limits until the
 * upstream reports a count. Takes linear time and loads no vocabulary.
 */
export function expectedTokens(request: CanonicalRequest): ExpectedTokens {
  const work = workOf(request)
  if (work === 'count') return { input: 0, output: 0 }
  const { messages, tools, sampling, output } = request
  const input = tokensOf(messages) + tokensOf(tools)
  if (WORK_WITHOUT_OUTPUT.has(work)) return { input, output: 0 }
  const maxTokens = sampling?.maxTokens
  // A caller may send any number here. The upstream decides whether it is valid.
  if (maxTokens === undefined) return { input }
  // Each prompt of a text completion has answers of its own.
  const prompts = work === 'completion' ? Math.max(1, messages.length) : 1
  return { input, output: Math.max(0, maxTokens) * Math.max(1, output.candidates ?? 1) * prompts }
}

/**
 * An upper bound of the input tokens, from the `content-length` of the body. Returns undefined if the length is unknown
 * or compressed.
 */
export function maxInputTokens({ headers }: IncomingMessage): number | undefined {
  const size = headers['content-encoding'] === undefined ? Number(headers['content-length']) : Number.NaN
  return size >= 0 ? size / BYTES_PER_TOKEN : undefined
}

function tokensOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) / BYTES_PER_TOKEN
  if (typeof value !== 'object' || value === null) return 0
  if (isMedia(value)) return tokensOfMedia(value)
  let sum = 0
  if (Array.isArray(value)) for (const item of value) sum += tokensOf(item)
  else
    for (const name in value) sum += name.length / BYTES_PER_TOKEN + tokensOf((value as Record<string, unknown>)[name])
  return sum
}

const isMedia = (value: { readonly type?: unknown; readonly source?: unknown }): value is MediaPart =>
  value.type === 'media' && typeof value.source === 'object'

function tokensOfMedia({ kind, source }: MediaPart): number {
  if (source.type === 'text') return tokensOf(source.text)
  if (kind === 'image' || source.type !== 'base64') return IMAGE_TOKENS
  return (source.data.length * 0.75) / MEDIA_BYTES_PER_TOKEN[kind]
}

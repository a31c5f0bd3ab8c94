import type { Bytes } from '../../canonical/bytes.ts'
import { GatewayError } from '../../canonical/error.ts'
import type { TaskVariant } from '../../canonical/task.ts'
import type { Downloads } from '../../upstreams/channel/download.ts'
import { type Answer, type Exchange, type Headers, headerValue } from '../../upstreams/channel/index.ts'
import { isRange } from './range.ts'
import { type TaskUpstream, upstreamTask } from './task-upstream.ts'
import { publicFailure, sendCall } from './upstream-requests.ts'

/** An open file of a task, whole or in part, whose bytes have not been read yet. */
export interface OpenedFile {
  /** Status of the answer: 200, 206 for a byte range, or 416 for a range beyond the end. */
  readonly status: 200 | 206 | 416
  readonly headers: { readonly [name: string]: string }
  readonly mediaType: string
  readonly bytes: Bytes
  /** Closes the file, whether it was read or not. */
  close(): void
}

/** Request headers passed to the upstream. */
const REQUEST_HEADERS = ['range', 'if-range'] as const
/** Response headers passed to the caller. */
const RESPONSE_HEADERS = ['content-range', 'accept-ranges', 'etag', 'last-modified'] as const
/** Maximum number of redirects that a download follows. */
const MAX_REDIRECTS = 3

/** Statuses for a file that the upstream no longer has. Expired storage URLs also answer with 403. */
const GONE_STATUSES: ReadonlySet<number> = new Set([403, 404, 410])

/**
 * Opens a file of a completed task at its upstream. The channel's credential is sent if the format requires it, but
 * never to another URL or a redirect.
 *
 * @param requested headers of the caller's request.
 * @throws GatewayError `not-found` for a variant that the format lacks, with status 410 for a file that is gone.
 */
export async function openUpstream(
  upstream: TaskUpstream,
  variant: TaskVariant,
  requested: Headers,
  downloads: Downloads,
): Promise<OpenedFile> {
  const { format, writer, task } = upstream
  const location = writer.content(upstreamTask(task), variant, format.dialect)
  if (location === undefined) throw missingVariant(variant)
  const headers = rangeHeaders(requested)
  let exchange: Exchange
  let url: string
  if ('url' in location) {
    url = location.url
    exchange = downloads.get(url, headers, isTrusted(url, upstream))
  } else {
    url = upstream.channel.endpoint(format, location).url
    exchange = await sendCall(upstream, location, { accept: '*/*', ...headers })
  }
  for (let redirects = 0; ; redirects++) {
    const answer = await exchange.answer
    const next = answer.status >= 300 && answer.status < 400 ? headerValue(answer.headers['location']) : ''
    if (next === '') return openedFile(exchange, answer, { variant, upstream, isRange: headers['range'] !== undefined })
    exchange.abort()
    if (redirects === MAX_REDIRECTS || !URL.canParse(next, url)) throw REDIRECTED
    url = new URL(next, url).href
    exchange = downloads.get(url, headers, isTrusted(url, upstream))
  }
}

const REDIRECTED = new GatewayError({ kind: 'upstream-failed', message: 'The download was redirected too many times.' })

/** Returns true if a URL may lead to a private address: on the upstream's origin, or if the operator allows any. */
const isTrusted = (address: string, { channel, format }: TaskUpstream): boolean =>
  channel.config.anyAddress === true ||
  (URL.canParse(address) && new URL(address).origin === new URL(format.baseUrl).origin)

/** Passes on a single range. As for stored files, several or malformed ranges lead to a request for the whole file. */
function rangeHeaders(requested: Headers): { readonly [name: string]: string } {
  if (!isRange(headerValue(requested['range']))) return {}
  const presentNames = REQUEST_HEADERS.filter(name => requested[name] !== undefined)
  return Object.fromEntries(presentNames.map(name => [name, headerValue(requested[name])]))
}

/** The file that a download is for. */
interface RequestedFile {
  readonly variant: TaskVariant
  readonly upstream: TaskUpstream
  /** True if only a part of the file was requested. */
  readonly isRange: boolean
}

async function openedFile(
  exchange: Exchange,
  answer: Answer,
  { variant, upstream, isRange }: RequestedFile,
): Promise<OpenedFile> {
  const { status, headers } = answer
  if (status !== 200 && status !== 206 && status !== 416) {
    const failure = GONE_STATUSES.has(status) ? VIDEO_GONE : await publicFailure(answer, upstream)
    exchange.abort()
    throw failure
  }
  const isPage = status !== 416 && NON_FILE_TYPES.test(headerValue(headers['content-type']))
  // Callers would take a part that they did not request for the whole file.
  const isUnrequestedPart = status !== 200 && !isRange
  // A byte range may start anywhere in a file, so its first bytes prove nothing.
  if (isPage || isUnrequestedPart || (status === 200 && NON_FILE_KINDS.has(answer.bodyKind))) {
    exchange.abort()
    throw NOT_A_FILE
  }
  const forwardedNames = RESPONSE_HEADERS.filter(name => headers[name] !== undefined)
  return {
    status,
    mediaType: mediaTypeOf(headerValue(headers['content-type']), variant),
    headers: Object.fromEntries(forwardedNames.map(name => [name, headerValue(headers[name])])),
    bytes: answer.bytes(),
    close: () => exchange.abort(),
  }
}

/** Content types of web pages and messages, which some storage services send with status 200. */
const NON_FILE_TYPES = /^(?:text\/|application\/(?:json|xml|[\w.-]+\+(?:json|xml))\b)/i

/** Kinds of bodies that are never a video, image or sprite sheet but a message, whatever their content type states. */
const NON_FILE_KINDS: ReadonlySet<Answer['bodyKind']> = new Set(['json', 'markup', 'nothing'])

const NOT_A_FILE = new GatewayError({ kind: 'upstream-failed', message: 'The upstream did not send a file.' })

const DEFAULT_TYPES: { readonly [variant in TaskVariant]: string } = {
  video: 'video/mp4',
  thumbnail: 'image/webp',
  spritesheet: 'image/jpeg',
}

/** Falls back to the variant's default type, because storage often reports only `application/octet-stream`. */
const mediaTypeOf = (type: string, variant: TaskVariant): string =>
  /^(?:video|image)\/[\w.+-]+/i.test(type) ? type : DEFAULT_TYPES[variant]

const missingVariant = (variant: TaskVariant): GatewayError =>
  new GatewayError({
    kind: 'not-found',
    message: `This video has no ${variant}.`,
    param: 'variant',
    code: 'variant_not_available',
  })

/** Error for a file that no longer exists. */
export const VIDEO_GONE = new GatewayError({
  kind: 'not-found',
  httpStatus: 410,
  message: 'The upstream no longer has this video.',
  code: 'video_expired',
})

const FILE_EXTENSIONS: { readonly [mediaType: string]: string } = {
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'video/quicktime': 'mov',
  'image/webp': 'webp',
  'image/jpeg': 'jpg',
  'image/png': 'png',
}

/** Returns headers that describe the file and make browsers save it under the task's id. */
export function fileHeaders(id: string, variant: TaskVariant, mediaType: string): { readonly [name: string]: string } {
  const ending = FILE_EXTENSIONS[mediaType.split(';')[0]!.trim().toLowerCase()] ?? 'bin'
  const name = variant === 'video' ? id : `${id}-${variant}`
  return {
    'content-type': mediaType,
    'content-disposition': `attachment; filename="${name}.${ending}"`,
    'x-content-type-options': 'nosniff',
    'cache-control': 'private',
  }
}

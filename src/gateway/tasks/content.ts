import type { Bytes } from '../../canonical/bytes.ts'
import { GatewayError } from '../../canonical/error.ts'
import type { TaskVariant } from '../../canonical/task.ts'
import type { Downloads } from '../../upstreams/channel/download.ts'
import { type Answer, type Exchange, type Headers, single } from '../../upstreams/channel/index.ts'
import { isRange } from './range.ts'
import { type TaskUpstream, upstreamTask } from './task-upstream.ts'
import { publicFailure, sendCall } from './upstream.ts'

/** A file of a task, whole or in part, still to be read. */
export interface OpenedFile {
  /** 200, 206 for a part, or 416 for a part that is not there. */
  readonly status: 200 | 206 | 416
  readonly headers: { readonly [name: string]: string }
  readonly mediaType: string
  readonly bytes: Bytes
  /** It is not read, or no further. */
  close(): void
}

/** Headers of a download that its upstream gets, and those of its answer that its caller gets. */
const REQUEST_HEADERS = ['range', 'if-range'] as const
const ANSWERED = ['content-range', 'accept-ranges', 'etag', 'last-modified'] as const
const REDIRECTS = 3

/** Statuses of a file that its upstream no longer has; addresses of storage that have expired answer 403, too. */
const GONE: ReadonlySet<number> = new Set([403, 404, 410])

/**
 * One file of a completed task at its upstream: with the channel's credential where its format requires it, without any at
 * another address, to which redirects count.
 *
 * @param requested headers of the caller's request.
 * @throws GatewayError `not-found` for a file upstreams of the format do not have, with status 410 for one that is gone.
 */
export async function openUpstream(
  upstream: TaskUpstream,
  variant: TaskVariant,
  requested: Headers,
  downloads: Downloads,
): Promise<OpenedFile> {
  const { format, writer, task } = upstream
  const place = writer.content(upstreamTask(task), variant, format.dialect)
  if (place === undefined) throw missing(variant)
  const headers = ranges(requested)
  let exchange: Exchange
  let at: string
  if ('url' in place) {
    at = place.url
    exchange = downloads.get(at, headers, isTrusted(at, upstream))
  } else {
    at = upstream.channel.place(format, place).url
    exchange = await sendCall(upstream, place, { accept: '*/*', ...headers })
  }
  for (let hop = 0; ; hop++) {
    const answer = await exchange.answer
    const next = answer.status >= 300 && answer.status < 400 ? single(answer.headers['location']) : ''
    if (next === '') return opened(exchange, answer, variant, upstream)
    exchange.abort()
    if (hop === REDIRECTS || !URL.canParse(next, at)) throw REDIRECTED
    at = new URL(next, at).href
    exchange = downloads.get(at, headers, isTrusted(at, upstream))
  }
}

const REDIRECTED = new GatewayError({ kind: 'upstream-failed', message: 'The file is behind too many redirects.' })

/** Addresses of the upstream itself, which the operator configured, and all where the operator trusts its addresses. */
const isTrusted = (address: string, { channel, format }: TaskUpstream): boolean =>
  channel.config.anyAddress === true ||
  (URL.canParse(address) && new URL(address).origin === new URL(format.baseUrl).origin)

/** A single range is passed on; several ranges, and malformed ones, request the whole file, as for kept files. */
function ranges(requested: Headers): { readonly [name: string]: string } {
  if (!isRange(single(requested['range']))) return {}
  const found = REQUEST_HEADERS.filter(name => requested[name] !== undefined)
  return Object.fromEntries(found.map(name => [name, single(requested[name])]))
}

async function opened(
  exchange: Exchange,
  answer: Answer,
  variant: TaskVariant,
  upstream: TaskUpstream,
): Promise<OpenedFile> {
  const { status, headers } = answer
  if (status !== 200 && status !== 206 && status !== 416) {
    const failure = GONE.has(status) ? GONE_THERE : await publicFailure(answer, upstream)
    exchange.abort()
    throw failure
  }
  const isPage = status !== 416 && PAGE.test(single(headers['content-type']))
  // A part of a file may begin like anything.
  if (isPage || (status === 200 && NO_FILES.has(answer.begins))) {
    exchange.abort()
    throw NO_FILE
  }
  const passed = ANSWERED.filter(name => headers[name] !== undefined)
  return {
    status,
    mediaType: mediaTypeOf(single(headers['content-type']), variant),
    headers: Object.fromEntries(passed.map(name => [name, single(headers[name])])),
    bytes: answer.bytes(),
    close: () => exchange.abort(),
  }
}

/** Types of pages and messages, which some storages send with a status of success. */
const PAGE = /^(?:text\/|application\/(?:json|xml|[\w.-]+\+(?:json|xml))\b)/i

/** How no file of a video, a picture or a sprite sheet begins: those are messages, whatever they are called. */
const NO_FILES: ReadonlySet<Answer['begins']> = new Set(['json', 'markup', 'nothing'])

const NO_FILE = new GatewayError({ kind: 'upstream-failed', message: 'The upstream sent something else than a file.' })

const USUAL: { readonly [variant in TaskVariant]: string } = {
  video: 'video/mp4',
  thumbnail: 'image/webp',
  spritesheet: 'image/jpeg',
}

/** Storage often has mere octets. */
const mediaTypeOf = (type: string, variant: TaskVariant): string =>
  /^(?:video|image)\/[\w.+-]+/i.test(type) ? type : USUAL[variant]

const missing = (variant: TaskVariant): GatewayError =>
  new GatewayError({
    kind: 'not-found',
    message: `This video has no ${variant}.`,
    param: 'variant',
    code: 'variant_not_available',
  })

/** The failure of a file that is not there any more. */
export const GONE_THERE = new GatewayError({
  kind: 'not-found',
  httpStatus: 410,
  message: 'The upstream does not have this video any more.',
  code: 'video_expired',
})

const ENDINGS: { readonly [mediaType: string]: string } = {
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'video/quicktime': 'mov',
  'image/webp': 'webp',
  'image/jpeg': 'jpg',
  'image/png': 'png',
}

/** Headers that describe what a file is, and have browsers save it under the task's name. */
export function fileHeaders(id: string, variant: TaskVariant, mediaType: string): { readonly [name: string]: string } {
  const ending = ENDINGS[mediaType.split(';')[0]!.trim().toLowerCase()] ?? 'bin'
  const name = variant === 'video' ? id : `${id}-${variant}`
  return {
    'content-type': mediaType,
    'content-disposition': `attachment; filename="${name}.${ending}"`,
    'x-content-type-options': 'nosniff',
    'cache-control': 'private',
  }
}

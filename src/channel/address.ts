import type { WireRequest } from '../canonical/wire.ts'
import type { ChannelConfig, ChannelFormat } from '../config/index.ts'
import { type LateParts, multipart } from '../egress/transport/multipart.ts'
import { allowedBetas, authHeaders } from '../providers/index.ts'
import { type Headers, NEVER_PASSED_ON, single } from './headers.ts'
import { keyPairOf } from './signed-token.ts'

/** What goes onto the wire, ready for the HTTP client. */
export interface Outgoing {
  readonly origin: string
  readonly path: string
  readonly headers: { readonly [name: string]: string }
  readonly body: string | Flow
}

/** A body that is read as it is sent. */
export interface Flow {
  /** It cannot be read again. */
  readonly once: boolean
  read(): AsyncIterable<Uint8Array>
}

/**
 * A format's request, addressed to a channel: the path below its base address, the channel's own credential and
 * headers, and of the caller's headers (`from`) those the channel lets through. The body is made text here, once; a
 * form is read as it is sent. `token` is what was signed with the channel's key, where that does not go out itself.
 */
export function addressed(
  channel: ChannelConfig,
  { format, wire, from = {}, late }: { format: ChannelFormat; wire: WireRequest; from?: Headers; late?: LateParts },
  token?: string,
): Outgoing {
  const { origin, path, headers } = place(channel, format, wire, token)
  const { body, ...about } = bodyOf(wire, late)
  return {
    origin,
    path,
    headers: {
      ...passedOn(channel, from),
      ...filtered(wire.headers, channel.betas),
      ...headers,
      ...about,
    },
    body,
  }
}

const STREAMED = 'text/event-stream, application/json'

const bodyOf = (wire: WireRequest, late: LateParts | undefined) =>
  wire.raw !== undefined ? rawBody(wire.raw) : wire.files === undefined ? jsonBody(wire) : formBody(wire, late)

const rawBody = ({ mediaType, bytes }: NonNullable<WireRequest['raw']>) => ({
  accept: 'application/json',
  'content-type': mediaType.replace(/[\r\n]/g, ''),
  ...(bytes.size === undefined ? {} : { 'content-length': String(bytes.size) }),
  body: { once: bytes.once === true, read: () => bytes.read() },
})

const jsonBody = ({ body, accept = 'application/json' }: WireRequest) => ({
  accept: body['stream'] === true ? STREAMED : accept,
  'content-type': 'application/json',
  body: JSON.stringify(body),
})

function formBody(wire: WireRequest, late: LateParts | undefined) {
  const { contentType, length, read } = multipart(wire, late)
  return {
    accept: wire.accept ?? STREAMED,
    'content-type': contentType,
    ...(length === undefined ? {} : { 'content-length': String(length) }),
    body: { once: late !== undefined || (wire.files ?? []).some(({ bytes }) => bytes.once === true), read },
  }
}

/** Where a path of a format is found at a channel, and what the channel always sends. */
export function place(
  channel: ChannelConfig,
  format: ChannelFormat,
  wire: Pick<WireRequest, 'path' | 'query'>,
  token?: string,
): Omit<Outgoing, 'body'> {
  const { origin, pathname } = baseOf(format)
  return {
    origin,
    path: `${pathname}${wire.path}${queryOf({ ...wire.query, ...format.query })}`,
    headers: {
      'accept-encoding': 'identity',
      'user-agent': 'interlingua',
      ...format.headers,
      ...authHeaders(format.auth, format.auth === 'jwt' ? bearerOf(channel.key, token) : channel.key),
    },
  }
}

/** A key of two parts is never shown itself. */
const bearerOf = (key: string | undefined, token: string | undefined): string | undefined =>
  keyPairOf(key) === undefined ? key : token

const bases = new WeakMap<ChannelFormat, { readonly origin: string; readonly pathname: string }>()

/** The base address, taken apart once. */
function baseOf(format: ChannelFormat) {
  let base = bases.get(format)
  if (base === undefined) {
    const { origin, pathname } = new URL(format.baseUrl)
    base = { origin, pathname: pathname.replace(/\/$/, '') }
    bases.set(format, base)
  }
  return base
}

function queryOf(fields: WireRequest['query']): string {
  for (const _ in fields) {
    const pairs = Object.entries(fields).flatMap(([name, value]) => [value].flat().map(one => [name, one]))
    return `?${new URLSearchParams(pairs as [string, string][])}`
  }
  return ''
}

function passedOn(channel: ChannelConfig, from: Headers): Outgoing['headers'] {
  const out: Record<string, string> = {}
  for (const name of channel.allowHeaders) {
    const value = from[name]
    if (value !== undefined && !NEVER_PASSED_ON.has(name)) out[name] = single(value)
  }
  return out
}

/** The format's own headers, its words for trial features cut to what the channel takes. */
function filtered(headers: Outgoing['headers'], policy: ChannelConfig['betas']): Outgoing['headers'] {
  const said = headers['anthropic-beta']
  if (said === undefined) return headers
  const { 'anthropic-beta': _, ...rest } = headers
  const betas = allowedBetas(policy, said)
  return betas === undefined ? rest : { ...rest, 'anthropic-beta': betas }
}

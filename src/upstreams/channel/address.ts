import type { WireRequest } from '../../canonical/wire.ts'
import { NEVER_PASSED_ON } from '../../config/channel.ts'
import type { ChannelConfig, ChannelFormat } from '../../config/index.ts'
import { type LateParts, multipart } from '../../egress/transport/multipart.ts'
import { type AuthStyle, allowedBetas, authHeaders, sentStyle } from '../../formats/index.ts'
import { keyPairOf } from '../credentials/key-pair.ts'
import { type Headers, headerValue } from './headers.ts'
import { adaptedToHosting } from './hostings.ts'
import type { TraceHeaders } from './trace-context.ts'

/** A complete request for the HTTP client. */
export interface Outgoing {
  readonly origin: string
  readonly path: string
  readonly headers: { readonly [name: string]: string }
  readonly body: string | StreamedBody
}

/** A request in an upstream's format, with everything that its headers depend on. */
export interface RequestParts {
  readonly format: ChannelFormat
  readonly wire: WireRequest
  /** Headers of the caller, of which the channel passes on the allowed ones. */
  readonly from?: Headers
  /** Trace headers of the request. */
  readonly trace?: TraceHeaders | undefined
  /** Parts of the caller's form that are still arriving. */
  readonly lateParts?: LateParts | undefined
}

/** A body that is read and sent at the same time. */
export interface StreamedBody {
  /** True if the body can be read only once. */
  readonly once: boolean
  read(): AsyncIterable<Uint8Array>
}

/**
 * Adds the channel's URL, headers and credential to a request. A JSON body is serialized once. A form is read while it
 * is sent.
 *
 * @param token the token of the channel's account, for upstreams that receive a token instead of the key.
 */
export function outgoingRequest(
  channel: ChannelConfig,
  { format, wire: originalWire, from = {}, trace, lateParts }: RequestParts,
  token?: string,
): Outgoing {
  // The policy comes first, because a hosting may move the betas to the body.
  const allowedWire = withAllowedBetas(originalWire, channel.betas)
  const wire = format.hosting === undefined ? allowedWire : adaptedToHosting(allowedWire, format.hosting)
  const { origin, path, headers } = endpointAt(channel, format, wire, token)
  const { bodyHeaders, body } = bodyOf(wire, lateParts)
  return {
    origin,
    path,
    headers: {
      ...passedHeaders(channel, from),
      ...trace,
      ...wire.headers,
      ...headers,
      ...bodyHeaders,
    },
    body,
  }
}

const STREAM_ACCEPT = 'text/event-stream, application/json'

/** A body, and the headers that describe it. */
interface Body extends Pick<Outgoing, 'body'> {
  readonly bodyHeaders: Outgoing['headers']
}

const bodyOf = (wire: WireRequest, lateParts: LateParts | undefined): Body =>
  wire.raw !== undefined ? rawBody(wire.raw) : wire.files === undefined ? jsonBody(wire) : formBody(wire, lateParts)

const rawBody = ({ mediaType, bytes }: NonNullable<WireRequest['raw']>): Body => ({
  bodyHeaders: {
    accept: 'application/json',
    'content-type': mediaType.replace(/[\r\n]/g, ''),
    ...(bytes.size === undefined ? {} : { 'content-length': String(bytes.size) }),
  },
  body: { once: bytes.once === true, read: () => bytes.read() },
})

const jsonBody = ({ body, accept = 'application/json' }: WireRequest): Body => ({
  bodyHeaders: { accept: body['stream'] === true ? STREAM_ACCEPT : accept, 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

function formBody(wire: WireRequest, lateParts: LateParts | undefined): Body {
  const { contentType, length, read } = multipart(wire, lateParts)
  return {
    bodyHeaders: {
      accept: wire.accept ?? STREAM_ACCEPT,
      'content-type': contentType,
      ...(length === undefined ? {} : { 'content-length': String(length) }),
    },
    body: { once: lateParts !== undefined || (wire.files ?? []).some(({ bytes }) => bytes.once === true), read },
  }
}

/** Returns the URL for a path of a format at a channel, and the headers that the channel always sends. */
export function endpointAt(
  channel: ChannelConfig,
  format: ChannelFormat,
  wire: Pick<WireRequest, 'path' | 'query'> & Partial<Pick<WireRequest, 'headers'>>,
  token?: string,
): Omit<Outgoing, 'body'> {
  const style = sentStyle(format, wire.headers)
  const { origin, pathname, headers } = baseOf(format, style, credentialFor(channel, format, token))
  return { origin, path: `${pathname}${wire.path}${queryOf({ ...wire.query, ...format.query })}`, headers }
}

/** Parts that are the same in every request of a format to a channel. */
interface EndpointBase extends Pick<Outgoing, 'origin' | 'headers'> {
  readonly pathname: string
  /** Credential to send in the headers. */
  readonly key: string | undefined
  readonly style: AuthStyle
}

const baseCache = new WeakMap<ChannelFormat, EndpointBase>()

/**
 * Returns the credential for the headers: a token, which is issued by a cloud or signed with a two-part key, or else
 * the key.
 */
const credentialFor = (
  { key, auth: signIn }: ChannelConfig,
  { auth }: ChannelFormat,
  token: string | undefined,
): string | undefined => (signIn !== undefined || (auth === 'jwt' && keyPairOf(key) !== undefined) ? token : key)

/** Returns the base URL and headers, which are cached per credential. */
function baseOf(format: ChannelFormat, style: EndpointBase['style'], key: string | undefined): EndpointBase {
  const cached = baseCache.get(format)
  if (cached !== undefined && cached.key === key && cached.style === style) return cached
  const { origin, pathname } = new URL(format.baseUrl)
  const headers = {
    'accept-encoding': 'identity',
    'user-agent': 'interlingua',
    ...authHeaders(style, key),
    ...format.headers,
  }
  const base = { origin, pathname: pathname.replace(/\/$/, ''), headers, key, style }
  baseCache.set(format, base)
  return base
}

function queryOf(fields: WireRequest['query']): string {
  for (const _ in fields) {
    const pairs = Object.entries(fields).flatMap(([name, value]) => [value].flat().map(one => [name, one]))
    return `?${new URLSearchParams(pairs as [string, string][])}`
  }
  return ''
}

/** Returns the caller's headers that the channel passes on. */
function passedHeaders(channel: ChannelConfig, from: Headers): Outgoing['headers'] | undefined {
  if (channel.allowHeaders.length === 0) return undefined
  const passed: Record<string, string> = {}
  for (const name of channel.allowHeaders) {
    const value = from[name]
    if (value !== undefined && !NEVER_PASSED_ON.has(name)) passed[name] = headerValue(value)
  }
  return passed
}

/** Returns the request with only the beta features that the channel allows. */
function withAllowedBetas(wire: WireRequest, policy: ChannelConfig['betas']): WireRequest {
  const betaHeader = wire.headers['anthropic-beta']
  if (betaHeader === undefined || policy === 'allow') return wire
  const { 'anthropic-beta': _, ...rest } = wire.headers
  const betas = allowedBetas(policy, betaHeader)
  return { ...wire, headers: betas === undefined ? rest : { ...rest, 'anthropic-beta': betas } }
}

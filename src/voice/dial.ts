import type { IncomingMessage } from 'node:http'
import type { LookupFunction } from 'node:net'
import WebSocket, { type ClientOptions } from 'ws'
import { errorKindOf, GatewayError } from '../canonical/error.ts'
import { isObject, parseObject } from '../canonical/node.ts'
import { retryAfter } from '../canonical/retry-after.ts'
import type { ProxyConfig, UpstreamTls } from '../config/types.ts'
import { unreachable } from '../upstreams/channel/index.ts'
import { lookup } from '../upstreams/channel/lookup.ts'
import { proxyAgent } from '../upstreams/channel/proxy-agent.ts'
import { refusedSession } from './refused-session.ts'
import { SessionSocket } from './session-socket.ts'
import { CALLER_DISCONNECTED } from './upstream-errors.ts'

export interface DialOptions {
  /** The upstream's configured base URL, with the scheme `http:` or `https:`. */
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  /** Maximum time until the connection is open, in milliseconds. */
  readonly timeout: number
  /** Maximum size of a message from the upstream, in bytes. */
  readonly maxPayload: number
  /** Time between heartbeats, in milliseconds. */
  readonly heartbeat: number
  readonly signal: AbortSignal
  /** Proxy for the connection to the upstream. */
  readonly proxy?: ProxyConfig | undefined
  /** Certificates for the connection to the upstream. */
  readonly tls?: UpstreamTls | undefined
}

/** Maximum size of the pongs buffered for an upstream that does not read them, in bytes. */
const MAX_PONG_BYTES = 2 ** 20

/** Maximum length of a refused handshake's body that is searched for an error message, in characters. */
const MAX_REFUSAL_LENGTH = 16 * 1024

/**
 * Opens a WebSocket to an upstream.
 *
 * @throws GatewayError of the kind that corresponds to the HTTP refusal; `unreachable`; `timed-out`; or `cancelled` if
 * the signal aborts.
 */
export function dial(dialOptions: DialOptions): Promise<SessionSocket> {
  const { url, headers, timeout, maxPayload, heartbeat, signal, proxy, tls } = dialOptions
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(CALLER_DISCONNECTED)
      return
    }
    const options: ClientOptions & { readonly lookup: LookupFunction } = {
      headers: { ...headers },
      maxPayload,
      perMessageDeflate: false,
      handshakeTimeout: timeout,
      followRedirects: false,
      lookup,
      ...(proxy === undefined && tls === undefined ? {} : { agent: proxyAgent(url, { proxy, tls }) }),
    }
    const socket = new WebSocket(url.replace(/^http/, 'ws'), options)
    const fail = (error: GatewayError): void => {
      signal.removeEventListener('abort', cancel)
      reject(error)
      socket.on('error', () => {})
      socket.terminate()
    }
    const cancel = (): void => fail(CALLER_DISCONNECTED)
    signal.addEventListener('abort', cancel, { once: true })
    socket.once('unexpected-response', (_, response) => {
      const bodyTimer = setTimeout(() => response.destroy(), timeout)
      refusalOf(response)
        .then(fail, () => fail(CONNECTION_REFUSED))
        .finally(() => clearTimeout(bodyTimer))
    })
    socket.once('error', (cause: NodeJS.ErrnoException) => fail(failureOf(cause)))
    socket.once('open', () => {
      signal.removeEventListener('abort', cancel)
      socket.removeAllListeners('error')
      resolve(new SessionSocket(socket, { heartbeat, buffer: maxPayload + MAX_PONG_BYTES }))
    })
  })
}

const CONNECTION_REFUSED = new GatewayError({
  kind: 'upstream-failed',
  message: 'The upstream refused the connection.',
})

const failureOf = (cause: NodeJS.ErrnoException): GatewayError =>
  /handshake has timed out/.test(cause.message)
    ? new GatewayError(
        { kind: 'timed-out', reason: 'first-byte-timeout', message: 'The upstream did not answer in time.' },
        { cause },
      )
    : unreachable(cause)

/** Reads the error from the HTTP response of a refused handshake. */
async function refusalOf(response: IncomingMessage): Promise<GatewayError> {
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk
    if (text.length > MAX_REFUSAL_LENGTH) break
  }
  response.destroy()
  const status = response.statusCode ?? 502
  const error = parseObject(text)?.['error']
  const { message, code } = isObject(error) ? error : {}
  const { 'retry-after': after = '', 'retry-after-ms': afterMs = '' } = response.headers
  const delay = retryAfter({ 'retry-after': after, 'retry-after-ms': String(afterMs) })
  return refusedSession({
    kind: errorKindOf(status),
    message: typeof message === 'string' ? message : `The upstream refused the connection with status ${status}.`,
    status,
    reason: 'status',
    ...(typeof code === 'string' ? { code } : {}),
    ...(delay === undefined ? {} : { retryAfterSeconds: delay }),
  })
}

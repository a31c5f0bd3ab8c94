import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type CanonicalError, GatewayError } from '../canonical/error.ts'
import type { Gateway } from '../gateway/index.ts'
import { answerOf, closeGently } from './connection.ts'
import { refuseLast } from './handlers.ts'

/** Node's error for an unparseable request (`clientError` event of a server). */
export interface ClientError extends Error {
  readonly code?: string
  /** The parser's message, which never quotes the request. */
  readonly reason?: string
  /** The last packet. `bytesParsed` is the number of its bytes that were parsed. */
  readonly rawPacket?: Buffer
  readonly bytesParsed?: number
}

/**
 * Returns a `clientError` listener that refuses malformed HTTP. The refusal uses the format of the request's path, if
 * the path is readable, and follows the answers to earlier requests on the connection.
 */
export function refusingMalformed(gateway: Gateway): (error: ClientError, socket: Duplex) => void {
  const refusedSockets = new WeakSet<Duplex>()
  return (error, socket) => {
    // The parser reports the same error again for every further packet.
    if (refusedSockets.has(socket)) return
    refusedSockets.add(socket)
    if (error.code === 'ECONNRESET') socket.destroy()
    else refuseInTurn(gateway, error, socket)
  }
}

function refuseInTurn(gateway: Gateway, error: ClientError, socket: Duplex): void {
  const answer = answerOf(socket)
  if (answer === undefined) refuseLast(gateway, faultOf(error), socket, pathIn(error))
  else if (answer.req.complete) answer.once('close', () => refuseInTurn(gateway, error, socket))
  else failBody(gateway, answer, error, socket)
}

/** Forwards a fault in a body to the body's reader, which then answers with an error. */
function failBody(gateway: Gateway, answer: ServerResponse, error: ClientError, socket: Duplex): void {
  const { req } = answer
  answerOf(socket)!.once('close', () => closeGently(socket, gateway.services))
  const emit = (): void => {
    if (!answer.headersSent) req.emit('error', error.code === CLOSED_EARLY_CODE ? error : faultOf(error))
  }
  if (req.listenerCount('error') > 0) return emit()
  // The reader may attach later, for example after the key's limits are loaded.
  const awaitReader = (event: string | symbol): void => {
    if (event !== 'error') return
    req.off('newListener', awaitReader)
    process.nextTick(emit)
  }
  req.on('newListener', awaitReader)
}

/** Parser's error code for a caller that closed its side before it had sent the whole request. */
const CLOSED_EARLY_CODE = 'HPE_INVALID_EOF_STATE'

const ERRORS_BY_CODE: { readonly [code: string]: CanonicalError } = {
  HPE_HEADER_OVERFLOW: { kind: 'too-large', httpStatus: 431, message: 'The request line and headers are too large.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { kind: 'too-large', message: 'The extensions of a chunk are too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { kind: 'timed-out', httpStatus: 408, message: 'The request took too long to arrive.' },
}

function faultOf({ code = '', reason }: ClientError): GatewayError {
  const message = `The request is not valid HTTP${reason === undefined ? '' : `: ${reason}`}.`
  return new GatewayError(ERRORS_BY_CODE[code] ?? { kind: 'invalid-request', message })
}

/** Matches a method and a path at the start of a line, up to the query or the version. */
const REQUEST_LINE = /(?:^|\n)[A-Za-z]+ (\/[^\s?]*)/g

/**
 * Returns the path of the faulty request, which is the last one in the packet, or undefined if the packet does not
 * contain its request line.
 */
function pathIn({ rawPacket, bytesParsed = 0 }: ClientError): string | undefined {
  if (rawPacket === undefined) return undefined
  const end = rawPacket.indexOf('\n', bytesParsed)
  const packetText = rawPacket.toString('latin1', 0, end < 0 ? rawPacket.length : end)
  return [...packetText.matchAll(REQUEST_LINE)].at(-1)?.[1]
}

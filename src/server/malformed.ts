import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type CanonicalError, GatewayError } from '../canonical/error.ts'
import type { Gateway } from '../gateway/index.ts'
import { answerOf, closeGently } from './connection.ts'
import { refuseLast } from './handlers.ts'

/** Node's error for a request it cannot parse (`clientError` of a server). */
export interface ClientError extends Error {
  readonly code?: string
  /** The parser's own message, which quotes nothing of the request. */
  readonly reason?: string
  /** The last packet, and how far it was parsed. */
  readonly rawPacket?: Buffer
  readonly bytesParsed?: number
}

/**
 * Refuses malformed HTTP, as a listener of `clientError`: in the format of the path where that can be read, and after
 * the answers to all earlier requests of the connection.
 */
export function refusingMalformed(gateway: Gateway): (error: ClientError, socket: Duplex) => void {
  const known = new WeakSet<Duplex>()
  return (error, socket) => {
    // The parser reports it again for all further bytes.
    if (known.has(socket)) return
    known.add(socket)
    if (error.code === 'ECONNRESET') socket.destroy()
    else refuseInTurn(gateway, error, socket)
  }
}

function refuseInTurn(gateway: Gateway, error: ClientError, socket: Duplex): void {
  const answer = answerOf(socket)
  if (answer === undefined) refuseLast(gateway, faultOf(error), socket, pathIn(error))
  else if (answer.req.complete) answer.once('close', () => refuseInTurn(gateway, error, socket))
  else failBody(answer, error, socket)
}

/** The fault is in the body of a request that is being answered: its reader gets the error, and answers. */
function failBody(answer: ServerResponse, error: ClientError, socket: Duplex): void {
  const { req } = answer
  answerOf(socket)!.once('close', () => closeGently(socket))
  const emit = (): void => {
    if (!answer.headersSent) req.emit('error', error.code === CLOSED_EARLY ? error : faultOf(error))
  }
  if (req.listenerCount('error') > 0) return emit()
  // Its reader may still be to come, as while the limits of a key are asked for.
  const awaitReader = (event: string | symbol): void => {
    if (event !== 'error') return
    req.off('newListener', awaitReader)
    process.nextTick(emit)
  }
  req.on('newListener', awaitReader)
}

/** The code for a caller that closed its side before the request was complete. */
const CLOSED_EARLY = 'HPE_INVALID_EOF_STATE'

const FAULTS: { readonly [code: string]: CanonicalError } = {
  HPE_HEADER_OVERFLOW: { kind: 'too-large', httpStatus: 431, message: 'The request line and headers are too large.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { kind: 'too-large', message: 'The extensions of a chunk are too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { kind: 'timed-out', httpStatus: 408, message: 'The request took too long to arrive.' },
}

function faultOf({ code = '', reason }: ClientError): GatewayError {
  const message = `The request is not valid HTTP${reason === undefined ? '' : `: ${reason}`}.`
  return new GatewayError(FAULTS[code] ?? { kind: 'invalid-request', message })
}

/** A method and a path at the beginning of a line, followed by the query or the version. */
const REQUEST_LINE = /(?:^|\n)[A-Za-z]+ (\/[^\s?]*)/g

/** The path of the request at fault, the last that began; undefined where its line is not in the packet. */
function pathIn({ rawPacket, bytesParsed = 0 }: ClientError): string | undefined {
  if (rawPacket === undefined) return undefined
  const end = rawPacket.indexOf('\n', bytesParsed)
  const read = rawPacket.toString('latin1', 0, end < 0 ? rawPacket.length : end)
  return [...read.matchAll(REQUEST_LINE)].at(-1)?.[1]
}

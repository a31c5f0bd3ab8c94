import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type CanonicalError, GatewayError } from '../canonical/error.ts'
import type { Gateway } from '../gateway/index.ts'
import { answerOf, hangUp } from './connection.ts'
import { refuseLast } from './handlers.ts'

/** What Node says of a request it cannot read (`clientError` of a server). */
export interface ClientError extends Error {
  readonly code?: string
  /** What is wrong, in the parser's own words, which quote nothing of the request. */
  readonly reason?: string
  /** What came last, and how far it was read. */
  readonly rawPacket?: Buffer
  readonly bytesParsed?: number
}

/**
 * Refuses what is no HTTP, as a listener of `clientError`: in the format of the path where that can be seen, and behind
 * the answers to all that came before on the connection.
 */
export function refusingMalformed(gateway: Gateway): (error: ClientError, socket: Duplex) => void {
  const known = new WeakSet<Duplex>()
  return (error, socket) => {
    // The parser says it again of all that still comes.
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
  else breakOff(answer, error, socket)
}

/** What is wrong is in the body of a request that is being answered: whoever reads it is told, and answers. */
function breakOff({ req, headersSent }: ServerResponse, error: ClientError, socket: Duplex): void {
  answerOf(socket)!.once('close', () => hangUp(socket))
  if (!headersSent && req.listenerCount('error') > 0) req.emit('error', error.code === LEFT ? error : faultOf(error))
}

/** The caller closed its side before the request was whole. */
const LEFT = 'HPE_INVALID_EOF_STATE'

const FAULTS: { readonly [code: string]: CanonicalError } = {
  HPE_HEADER_OVERFLOW: { kind: 'too-large', httpStatus: 431, message: 'The request line and headers are too large.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { kind: 'too-large', message: 'The extensions of a chunk are too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { kind: 'timed-out', httpStatus: 408, message: 'The request took too long to come.' },
}

function faultOf({ code = '', reason }: ClientError): GatewayError {
  const message = `The request is not valid HTTP${reason === undefined ? '' : `: ${reason}`}.`
  return new GatewayError(FAULTS[code] ?? { kind: 'invalid-request', message })
}

/** A method and a path at the beginning of a line, behind which the query begins, or the version. */
const REQUEST_LINE = /(?:^|\n)[A-Za-z]+ (\/[^\s?]*)/g

/** The path of the request at fault, the last that was begun; undefined where its line came before. */
function pathIn({ rawPacket, bytesParsed = 0 }: ClientError): string | undefined {
  if (rawPacket === undefined) return undefined
  const end = rawPacket.indexOf('\n', bytesParsed)
  const read = rawPacket.toString('latin1', 0, end < 0 ? rawPacket.length : end)
  return [...read.matchAll(REQUEST_LINE)].at(-1)?.[1]
}

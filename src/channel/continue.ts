import type { Socket } from 'node:net'

/** The part of the HTTP client's parser that is told the head of a message, informational ones among them. */
interface Parser {
  onHeadersComplete(status: number, upgrade: boolean, keepAlive: boolean): number
}

/** As good as 100 to whoever asked for neither: more is to come (RFC 9110 §15.2). */
const PROCESSING = 102

/**
 * Has the HTTP client overhear `100 Continue` on a connection, as it does any other informational answer: some upstreams
 * say it unasked, for which the client would break the connection (undici 8, `onHeadersComplete`). It has no setting for
 * that, so its parser is told another status; where there is no such parser (HTTP/2), nothing is to be done.
 */
export function takesContinue(socket: Socket): void {
  const symbol = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser')
  const parser = symbol === undefined ? undefined : (socket as unknown as { [symbol]: Parser | null })[symbol]
  if (parser == null) return
  const { onHeadersComplete } = parser
  parser.onHeadersComplete = (status, upgrade, keepAlive) =>
    onHeadersComplete.call(parser, status === 100 ? PROCESSING : status, upgrade, keepAlive)
}

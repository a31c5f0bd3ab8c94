import type { Socket } from 'node:net'

/** The part of the HTTP client's parser that receives the head of a message, also of informational ones. */
interface Parser {
  onHeadersComplete(status: number, upgrade: boolean, keepAlive: boolean): number
}

/** Handled like 100 by a client that expects neither: another head follows (RFC 9110 §15.2). */
const PROCESSING = 102

/**
 * Makes the HTTP client ignore `100 Continue` on a connection, as it does any other informational answer: some
 * upstreams send it unasked, and the client would close the connection (undici 8, `onHeadersComplete`). It has no
 * setting for that, so its parser receives another status; where there is no such parser (HTTP/2), nothing is changed.
 */
export function takesContinue(socket: Socket): void {
  const symbol = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser')
  const parser = symbol === undefined ? undefined : (socket as unknown as { [symbol]: Parser | null })[symbol]
  if (parser == null) return
  const { onHeadersComplete } = parser
  parser.onHeadersComplete = (status, upgrade, keepAlive) =>
    onHeadersComplete.call(parser, status === 100 ? PROCESSING : status, upgrade, keepAlive)
}

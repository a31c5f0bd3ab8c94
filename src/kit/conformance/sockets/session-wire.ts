import type { ReceivedAnswer, SentRequest } from '../exchange.ts'
import type { Headers } from '../format.ts'
import { type Target, upstreamHeaders, type WireRecord } from '../run-cells.ts'
import type { Closing, Frame } from './frame.ts'
import type { SessionRecord } from './judge-session.ts'
import type { SessionCell } from './session-cells.ts'

/* Represents a session as two messages for reports. The frames of each direction become the lines of a body. */

const lines = (frames: readonly Frame[]): Buffer => Buffer.from(frames.map(({ text }) => `${text}\n`).join(''))

const upgrade = (url: string, headers: Headers, frames: readonly Frame[]): SentRequest => ({
  ...{ method: 'GET', url, headers: { ...headers, upgrade: 'websocket' }, body: lines(frames) },
})

const closeHeaders = (closed: Closing | undefined): Headers =>
  closed === undefined ? {} : { close: `${closed.code} ${closed.reason}`.trim() }

function answerOf({ refusal, server, closed }: SessionRecord): ReceivedAnswer {
  if (refusal !== undefined)
    return {
      status: refusal.status,
      headers: refusal.headers,
      trailers: {},
      body: Buffer.from(refusal.body),
      isComplete: true,
    }
  return { status: 101, headers: closeHeaders(closed), trailers: {}, body: lines(server), isComplete: true }
}

/** Returns the wire record of a session as if it were an exchange. */
export function wireOf(cell: SessionCell, record: SessionRecord, target: Target, took: number): WireRecord {
  const { caller, upstream } = cell
  const url = `${target.bases[caller.name]}${caller.path(target.model(upstream?.name))}`
  return {
    exchange: {
      ...{
        sent: upgrade(url, { ...caller.headers(target.key), ...upstreamHeaders(cell, target) }, record.client),
        got: answerOf(record),
        took,
      },
      ...(record.fault === undefined ? {} : { fault: { kind: 'http.closed', detail: record.fault } }),
    },
    ...(record.secret === undefined ? {} : { later: [{ exchange: record.secret.exchange, arrivals: [] }] }),
    arrivals: record.arrivals.map(({ path, headers, received }) => ({ sent: upgrade(path, headers, received) })),
  }
}

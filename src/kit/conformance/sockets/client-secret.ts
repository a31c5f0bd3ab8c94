import { type Bounds, send } from '../client.ts'
import type { Exchange } from '../exchange.ts'
import { type JsonObject, objectOf, parseJson, textOf } from '../json.ts'
import type { Target } from '../run-cells.ts'
import type { Frame } from './frame.ts'
import { frameWith } from './frame.ts'
import type { SessionCell } from './session-cells.ts'
import { connect, type SocketBounds } from './socket.ts'

/* Client secrets. A server requests one with its key, and a client uses it to open a session. */

/** The request for a client secret, and the outcome at the target. */
export interface SecretRecord {
  /** The request and its answer, without the secret. */
  readonly exchange: Exchange
  /** The answer, with the secret. */
  readonly answer: JsonObject
  readonly session: JsonObject
  readonly seconds: number
  /** Unix time of the request, in seconds. */
  readonly requestedAt: number
  /**
   * Status with which the target refused a session with a made-up secret, or undefined if it accepted the session.
   */
  readonly madeUpStatus?: number | undefined
}

/** Prefix of client secrets. */
export const PREFIX = 'ek_'

const MADE_UP_SECRET = `${PREFIX}${'0'.repeat(48)}`
const PLACEHOLDER = '[client secret]'

/** Returns the event that changes a session in the same way as the settings of its client secret. */
export const settingsFrame = (session: JsonObject): Frame => frameWith({ type: 'session.update', session })

function withoutSecret(exchange: Exchange, value: string | undefined): Exchange {
  const { got } = exchange
  if (got === undefined || !value) return exchange
  return { ...exchange, got: { ...got, body: Buffer.from(got.body.toString('utf8').replaceAll(value, PLACEHOLDER)) } }
}

/**
 * Requests a client secret, and tries to open a session with a made-up one. Returns undefined for scenarios without
 * client secrets.
 */
export async function secretOf(
  { caller, upstream, scenario: { secret } }: SessionCell,
  target: Target,
  bounds: SocketBounds,
): Promise<SecretRecord | undefined> {
  if (secret === undefined || caller.secrets === undefined) return undefined
  const { session, seconds } = secret
  const model = target.model(upstream?.name)
  const base = target.bases[caller.name]!
  const body = { expires_after: { anchor: 'created_at', seconds }, session: { ...session, model } }
  const limits: Bounds = { total: bounds.handshake, idle: bounds.handshake, bytes: bounds.bytes }
  const requestedAt = Math.floor(Date.now() / 1000)
  const exchange = await send(
    {
      ...{ method: 'POST', url: `${base}${caller.secrets}`, body: Buffer.from(JSON.stringify(body)) },
      headers: { ...caller.headers(target.key), 'content-type': 'application/json' },
    },
    limits,
  )
  const answer = objectOf(parseJson(exchange.got?.body.toString('utf8') ?? ''))
  const value = textOf(answer['value'])
  const record = { exchange: withoutSecret(exchange, value), answer, session, seconds, requestedAt }
  if (!value) return record
  const connection = await connect(`${base}${caller.path(model)}`, caller.headers(MADE_UP_SECRET), bounds)
  if ('socket' in connection) connection.socket.terminate()
  return { ...record, madeUpStatus: 'refusal' in connection ? connection.refusal.status : undefined }
}

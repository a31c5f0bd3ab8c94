import { randomBytes } from 'node:crypto'
import type { SentRequest } from '../exchange.ts'
import type { Headers } from '../format.ts'
import { type JsonObject, numberOf, objectOf, parseJson } from '../json.ts'
import { PREFIX } from './client-secret.ts'
import { realtime } from './realtime/index.ts'

const BEARER = /^Bearer (.*)$/

const tokenIn = ({ authorization = '' }: Headers): string => BEARER.exec(authorization)?.[1] ?? ''

/** Client secrets that the kit's upstream has issued. */
export class IssuedSecrets {
  private readonly sessions = new Map<string, JsonObject>()

  /** Answers a request for a client secret. Returns undefined for any other request. */
  answer({ method, url, body }: SentRequest): JsonObject | undefined {
    if (method !== 'POST' || !new URL(url).pathname.endsWith(realtime.secrets!)) return undefined
    const { session, expires_after: after } = objectOf(parseJson(body.toString('utf8')))
    const value = PREFIX + randomBytes(24).toString('hex')
    this.sessions.set(value, objectOf(session))
    return {
      value,
      expires_at: Math.floor(Date.now() / 1000) + (numberOf(objectOf(after)['seconds']) ?? 600),
      session: { ...objectOf(session), object: 'realtime.session', id: 'sess_kit' },
    }
  }

  /**
   * Returns true if a credential may open a session, because it is not a client secret or the kit's upstream issued it.
   */
  isValid(headers: Headers): boolean {
    return !tokenIn(headers).startsWith(PREFIX) || this.sessions.has(tokenIn(headers))
  }

  sessionOf(headers: Headers): JsonObject | undefined {
    return this.sessions.get(tokenIn(headers))
  }
}

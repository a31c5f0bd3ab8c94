import type { IncomingMessage } from 'node:http'
import type { Administration } from '../administration.ts'
import type { AdminAnswer } from '../answer.ts'
import type { Method } from '../endpoint.ts'

/** A sign-in route. It reads and sets cookies, and checks access itself. */
export interface SessionRoute {
  readonly method: Method
  readonly path: string
  /** Rejects with Problem or GatewayError. */
  handle(gateway: Administration, message: IncomingMessage, query: URLSearchParams): Promise<AdminAnswer>
}

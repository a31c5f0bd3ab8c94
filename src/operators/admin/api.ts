import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../../canonical/error.ts'
import { hasRole, type Principal } from '../sign-in/index.ts'
import type { Administration } from './administration.ts'
import type { AdminAnswer } from './answer.ts'
import { recordingFor } from './audit.ts'
import { authenticate } from './authenticate.ts'
import { COMPLETE_HEADER } from './csv.ts'
import { type Endpoint, type LiveAnswer, roleFor } from './endpoint.ts'
import { checkedInput, type RawInput } from './input.ts'
import { description } from './openapi.ts'
import { detailsOf, Problem, type ProblemDetails } from './problem.ts'
import type { SessionRoute } from './session/route.ts'

/** Maximum size of a request body, in bytes. */
const MAX_BODY = 1024 * 1024

/** Time that a body may take before its sender is authenticated again, in milliseconds. */
const SLOW_BODY_MS = 1000

/** Base path of all endpoints. */
export const BASE = '/admin/v1'

/** A request to an endpoint. */
export interface AdminCall {
  readonly message: IncomingMessage
  readonly params: RawInput['params']
  /** The query string without the question mark. */
  readonly query: string
}

/**
 * Handles requests to the admin API. Every answer matches the endpoint's schema, or is a problem details object (RFC
 * 9457).
 */
export class AdminApi {
  readonly endpoints: readonly Endpoint[]
  private readonly gateway: Administration
  private descriptionText: string | undefined

  constructor(gateway: Administration, endpoints: readonly Endpoint[]) {
    this.gateway = gateway
    this.endpoints = endpoints
  }

  /** Authenticates a request. Rejects with Problem or GatewayError if it has neither a valid token nor a session. */
  authenticate(message: IncomingMessage): Promise<Principal> {
    return authenticate(this.gateway, message)
  }

  /** Answers a request to an endpoint. Rejects with Problem or GatewayError. */
  async answer(endpoint: Endpoint, call: AdminCall, principal: Principal): Promise<AdminAnswer | LiveAnswer> {
    checkRole(endpoint, principal)
    const { message, params, query } = call
    const { body, sender } = await this.bodyOf(endpoint, message, principal)
    const input = checkedInput(endpoint, { params, query: new URLSearchParams(query), body })
    const recording = recordingFor(this.gateway, sender, endpoint.operation)
    const answer = await endpoint.handle(this.gateway, input as never, sender, recording)
    if (typeof answer !== 'function') return writeAnswer(endpoint, answer as never, message)
    return message.method === 'HEAD' ? headOf(endpoint) : (answer as LiveAnswer)
  }

  /**
   * Reads the body of a request. After a slow body, authenticates the sender again, who may have been signed out or
   * demoted meanwhile.
   */
  private async bodyOf(endpoint: Endpoint, message: IncomingMessage, sender: Principal) {
    if (endpoint.body === undefined) return { body: undefined, sender }
    const began = performance.now()
    const body = await this.gateway.body(message, MAX_BODY)
    if (performance.now() - began < SLOW_BODY_MS) return { body, sender }
    const current = await this.authenticate(message)
    checkRole(endpoint, current)
    return { body, sender: current }
  }

  /** Answers a request to a sign-in route, which needs no authentication. Rejects with Problem or GatewayError. */
  async session(route: SessionRoute, message: IncomingMessage, query: string): Promise<AdminAnswer> {
    if (this.gateway.users.config === undefined) throw unknownPath()
    const answer = await route.handle(this.gateway, message, new URLSearchParams(query))
    return { ...answer, headers: { ...HEADERS, ...answer.headers } }
  }

  /** Returns the OpenAPI 3.1 description of all endpoints. */
  get openapi(): AdminAnswer {
    this.descriptionText ??= JSON.stringify(description(this.endpoints, this.gateway.version))
    return { status: 200, headers: HEADERS, text: this.descriptionText }
  }

  /** Converts an error into a problem details answer, and logs internal errors. */
  refusal(thrown: unknown, id: string, more: { readonly [name: string]: string } = {}): AdminAnswer {
    const details = detailsOf(thrown, id)
    if (details.status === 500) this.gateway.log.error({ id, err: thrown }, 'internal error in the admin API')
    const seconds = secondsOf(thrown)
    return problemAnswer(details, { ...more, ...(seconds === undefined ? {} : { 'retry-after': String(seconds) }) })
  }
}

/** Problems for an unsupported method on a known path, and for an unknown path. */
export const wrongMethod = (allow: string): Problem =>
  new Problem('method-not-allowed', `The resource supports these methods: ${allow}.`)
export const unknownPath = (): Problem => new Problem('not-found', `There is no such resource under ${BASE}.`)

const secondsOf = (thrown: unknown): number | undefined => {
  if (thrown instanceof Problem) return thrown.more.retryAfterSeconds
  return thrown instanceof GatewayError ? thrown.error.retryAfterSeconds : undefined
}

function checkRole(endpoint: Endpoint, { role }: Principal): void {
  if (!hasRole(role, roleFor(endpoint))) throw ROLE_TOO_LOW
}

const ROLE_TOO_LOW = new Problem('role-too-low', 'This requires the admin role; you are a viewer.')

const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  vary: 'authorization, cookie, accept',
}

function problemAnswer(details: ProblemDetails, more: AdminAnswer['headers']): AdminAnswer {
  const headers: { [name: string]: string } = { ...HEADERS, ...more, 'content-type': 'application/problem+json' }
  if (details.status === 401) headers['www-authenticate'] = 'Bearer realm="interlingua admin"'
  return { status: details.status, headers, text: JSON.stringify(details) }
}

function writeAnswer(endpoint: Endpoint, answer: never, { headers: requestHeaders }: IncomingMessage): AdminAnswer {
  const { status, location, csv } = endpoint
  const headers: { [name: string]: string } = { ...HEADERS }
  if (location !== undefined) headers['location'] = `${BASE}${location(answer)}`
  if (endpoint.answer === undefined) return { status, headers, text: '' }
  if (csv !== undefined && prefersCsv(requestHeaders.accept)) {
    headers['content-type'] = 'text/csv; charset=utf-8; header=present'
    headers[COMPLETE_HEADER] = String(isComplete(answer))
    return { status, headers, text: csv(answer) }
  }
  return { status, headers, text: JSON.stringify(answer) }
}

const isComplete = ({ complete, next_cursor }: { readonly complete?: boolean; readonly next_cursor?: string }) =>
  complete !== false && next_cursor === undefined

/** Answers a HEAD request to a streaming endpoint, whose body is not known in advance. */
const headOf = ({ status, live = [] }: Endpoint): AdminAnswer => ({
  status,
  headers: { ...HEADERS, ...(live[0] === undefined ? {} : { 'content-type': live[0] }) },
  text: '',
})

/** Returns true if the client prefers CSV, which it does if its `accept` header names CSV before JSON. */
const prefersCsv = (accept = ''): boolean =>
  /text\/csv|application\/json/i.exec(accept)?.[0].toLowerCase() === 'text/csv'

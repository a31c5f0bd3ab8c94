import { type CanonicalError, ERRORS, GatewayError } from '../../canonical/error.ts'
import type { JsonSchema } from '../../config/schema.ts'
import { STORE_UNAVAILABLE } from '../../store/fault.ts'

/** All problem types of the API (RFC 9457). Clients should distinguish problems by type. */
export const PROBLEMS = {
  'invalid-input': { status: 400, title: 'The request is invalid' },
  unauthenticated: { status: 401, title: 'No valid admin token or session' },
  'sign-in-refused': { status: 401, title: 'Wrong name or password' },
  'api-key-refused': { status: 403, title: 'Caller API keys are not accepted here' },
  'role-too-low': { status: 403, title: 'Your role does not permit this' },
  csrf: { status: 403, title: 'The request was not made by the console' },
  'not-found': { status: 404, title: 'The resource does not exist' },
  'method-not-allowed': { status: 405, title: 'The resource does not support this method' },
  'read-only': { status: 409, title: 'The resource is read-only: the config file or another system defines it' },
  'name-taken': { status: 409, title: 'The name is already taken' },
  'not-repeatable': { status: 409, title: 'The request cannot be sent again' },
  'in-use': { status: 409, title: 'The resource is still in use' },
  'last-admin': { status: 409, title: 'The user is the last enabled admin' },
  'too-large': { status: 413, title: 'The body is too large' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  locked: { status: 429, title: 'Sign-in is temporarily locked' },
  overloaded: { status: 503, title: 'The gateway or an upstream is temporarily overloaded' },
  'store-unavailable': { status: 503, title: 'The store is temporarily unavailable' },
  internal: { status: 500, title: 'The gateway failed to handle the request' },
} as const satisfies { readonly [type: string]: { readonly status: number; readonly title: string } }

export type ProblemType = keyof typeof PROBLEMS

/** An error in one field of the body (by JSON pointer, RFC 6901) or in one parameter. */
export interface InputError {
  readonly pointer?: string
  readonly parameter?: string
  readonly detail: string
}

/** Thrown to answer a request with problem details. */
export class Problem extends Error {
  readonly type: ProblemType
  readonly errors: readonly InputError[]
  readonly more: ProblemExtras
  constructor(type: ProblemType, detail: string, errors: readonly InputError[] = [], more: ProblemExtras = {}) {
    super(detail)
    this.name = 'Problem'
    this.type = type
    this.errors = errors
    this.more = more
  }
}

export interface ProblemExtras {
  /** Additional members that only some problems have. */
  readonly members?: { readonly [name: string]: unknown }
  readonly retryAfterSeconds?: number
}

/** Creates an `invalid-input` problem for one error. */
export const invalidInput = (error: InputError): Problem =>
  new Problem('invalid-input', `${error.pointer ?? error.parameter ?? 'body'}: ${error.detail}`, [error])

/** Problem details as sent. */
export interface ProblemDetails {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  /** The request id, which the log also contains. */
  readonly instance: string
  readonly errors?: readonly InputError[]
  readonly [member: string]: unknown
}

const NAMESPACE = 'urn:interlingua:problem:'

/** Converts any thrown value to problem details. Unexpected errors are sent without their cause. */
export function detailsOf(thrown: unknown, id: string): ProblemDetails {
  const problem = problemOf(thrown)
  const { status, title } = PROBLEMS[problem.type]
  const { errors, more } = problem
  return {
    ...more.members,
    ...{ type: `${NAMESPACE}${problem.type}`, title, status: statusOf(thrown) ?? status, detail: problem.message },
    instance: id,
    ...(errors.length === 0 ? {} : { errors }),
  }
}

/** Returns the HTTP status of a gateway error, which is more precise than that of its problem type. */
const statusOf = (thrown: unknown): number | undefined =>
  thrown instanceof GatewayError ? (thrown.error.httpStatus ?? ERRORS[thrown.error.kind].status) : undefined

function problemOf(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown
  if (thrown instanceof GatewayError) return new Problem(typeOf(thrown.error), thrown.error.message)
  if (thrown instanceof URIError) return new Problem('invalid-input', 'The path is malformed.')
  return new Problem('internal', 'The gateway failed to handle this request.')
}

function typeOf({ kind, code }: CanonicalError): ProblemType {
  if (kind === 'rate-limited') return 'too-many-requests'
  if (code === STORE_UNAVAILABLE) return 'store-unavailable'
  if (Object.hasOwn(PROBLEMS, kind)) return kind as ProblemType
  return ERRORS[kind].status < 500 ? 'invalid-input' : 'internal'
}

/** JSON Schema of problem details. */
export const PROBLEM_SCHEMA: JsonSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'instance'],
  properties: {
    type: { type: 'string', enum: Object.keys(PROBLEMS).map(type => `${NAMESPACE}${type}`) },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string', description: 'The id of the request.' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['detail'],
        properties: {
          pointer: { type: 'string', description: 'A JSON pointer into the body.' },
          parameter: { type: 'string' },
          detail: { type: 'string' },
        },
      },
    },
  },
}

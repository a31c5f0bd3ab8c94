import type { IncomingMessage } from 'node:http'
import type * as v from 'valibot'
import { type AnySchema, fields } from '../../config/schema.ts'
import type { Reply } from '../../gateway/call.ts'
import type { Audited } from '../../store/audit-records.ts'
import type { Role } from '../../store/console-records.ts'
import type { Principal } from '../sign-in/index.ts'
import type { Administration } from './administration.ts'
import type { Recording } from './audit.ts'
import type { ProblemType } from './problem.ts'

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** The validated input of a request. */
export interface Input<P = unknown, Q = unknown, B = unknown> {
  readonly params: P
  readonly query: Q
  readonly body: B
}

/** A request with a streamed answer. */
export interface LiveExchange {
  /** The request id, sent in headers. */
  readonly id: string
  readonly message: IncomingMessage
  readonly reply: Reply
}

/** Sends a streamed answer. Rejects only if nothing has been sent. */
export type LiveAnswer = (exchange: LiveExchange) => Promise<void>

/** One endpoint of the admin API. Its route, validation and OpenAPI description are derived from this row. */
export interface Endpoint<
  P extends AnySchema = AnySchema,
  Q extends AnySchema = AnySchema,
  B extends AnySchema = AnySchema,
  A extends AnySchema = AnySchema,
> {
  readonly method: Method
  /** Required role, if it differs from the default for the method (`roleFor`). */
  readonly role?: Role
  /** Path with parameters in braces: `/keys/{id}`. */
  readonly path: string
  /** Unique operation id, for generated clients. */
  readonly operation: string
  readonly summary: string
  readonly params: P
  readonly query: Q
  /** Schema of the body. Absent if the endpoint takes none. */
  readonly body?: B
  /** Schema of the answer, or of one event's data for server-sent events. Absent if the answer has no body. */
  readonly answer?: A
  /** Media types of a streamed answer. `handle` then returns a LiveAnswer. */
  readonly live?: readonly string[]
  /** Status on success: 200 by default, or 204 without a body. */
  readonly status: number
  /** Problems that this endpoint may report, in addition to those of every request. */
  readonly problems: readonly ProblemType[]
  /** Kind of the things that the endpoint changes, for the audit log. Absent if it changes nothing that administrators set. */
  readonly audit?: Audited
  /** Returns the path of the created resource. */
  readonly location?: (answer: v.InferOutput<A>) => string
  /** Formats the answer as CSV, for clients that prefer `text/csv`. */
  readonly csv?: (answer: v.InferOutput<A>) => string
  handle(
    gateway: Administration,
    input: Input<v.InferOutput<P>, v.InferOutput<Q>, v.InferOutput<B>>,
    principal: Principal,
    recording: Recording,
  ): Promise<v.InferOutput<A> | LiveAnswer> | v.InferOutput<A> | LiveAnswer
}

/** Returns the role that an endpoint requires. The default is viewer for reading, otherwise admin. */
export const roleFor = ({ role, method }: Pick<Endpoint, 'role' | 'method'>): Role =>
  role ?? (method === 'get' ? 'viewer' : 'admin')

const NO_FIELDS = fields({})
type NoFields = typeof NO_FIELDS

type EndpointDefinition<P extends AnySchema, Q extends AnySchema, B extends AnySchema, A extends AnySchema> = Omit<
  Endpoint<P, Q, B, A>,
  'params' | 'query' | 'status' | 'problems'
> &
  Partial<Pick<Endpoint<P, Q, B, A>, 'params' | 'query' | 'status' | 'problems'>>

/** Defines an endpoint with type-checked schemas and defaults. */
export const endpoint = <
  P extends AnySchema = NoFields,
  Q extends AnySchema = NoFields,
  B extends AnySchema = NoFields,
  A extends AnySchema = NoFields,
>(
  row: EndpointDefinition<P, Q, B, A>,
): Endpoint =>
  ({
    ...{
      params: NO_FIELDS,
      query: NO_FIELDS,
      problems: [],
      status: row.answer === undefined && row.live === undefined ? 204 : 200,
    },
    ...row,
    // The table contains endpoints of all types. Each is called only with input that its own schemas have validated.
  }) as unknown as Endpoint

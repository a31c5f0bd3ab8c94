import type { IncomingMessage } from 'node:http'
import type * as v from 'valibot'
import { type AnySchema, fields } from '../../config/schema.ts'
import type { Reply } from '../../gateway/call.ts'
import type { Role } from '../../store/console-records.ts'
import type { Principal } from '../sign-in/index.ts'
import type { Administration } from './administration.ts'
import type { ProblemType } from './problem.ts'

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** The input of a request, checked. */
export interface Input<P = unknown, Q = unknown, B = unknown> {
  readonly params: P
  readonly query: Q
  readonly body: B
}

/** A request whose answer is sent as it comes. */
export interface LiveExchange {
  /** Names the request in headers. */
  readonly id: string
  readonly message: IncomingMessage
  readonly reply: Reply
}

/** Answers by itself. Rejects only where nothing was sent yet. */
export type LiveAnswer = (exchange: LiveExchange) => Promise<void>

/** One row of the API: its route, its checks and its description come from it. */
export interface Endpoint<
  P extends AnySchema = AnySchema,
  Q extends AnySchema = AnySchema,
  B extends AnySchema = AnySchema,
  A extends AnySchema = AnySchema,
> {
  readonly method: Method
  /** Who may use it, where that is not what `roleFor` gives by its method. */
  readonly role?: Role
  /** With parameters in braces: `/keys/{id}`. */
  readonly path: string
  /** Unique, for clients that are generated. */
  readonly operation: string
  readonly summary: string
  readonly params: P
  readonly query: Q
  /** Absent where it takes no body. */
  readonly body?: B
  /** Absent where it answers without a body; of server-sent events the data of any of them. */
  readonly answer?: A
  /** The media types of an answer that is sent as it comes: `handle` gives a LiveAnswer then. */
  readonly live?: readonly string[]
  /** The status of success: 200, or 204 without an answer. */
  readonly status: number
  /** The problems it may report beside those of every request. */
  readonly problems: readonly ProblemType[]
  /** The path of what was created. */
  readonly location?: (answer: v.InferOutput<A>) => string
  /** The answer as a table, for clients that prefer `text/csv`. */
  readonly csv?: (answer: v.InferOutput<A>) => string
  handle(
    gateway: Administration,
    input: Input<v.InferOutput<P>, v.InferOutput<Q>, v.InferOutput<B>>,
    principal: Principal,
  ): Promise<v.InferOutput<A> | LiveAnswer> | v.InferOutput<A> | LiveAnswer
}

/** The role that an endpoint needs: to look at things, that of a viewer. */
export const roleFor = ({ role, method }: Pick<Endpoint, 'role' | 'method'>): Role =>
  role ?? (method === 'get' ? 'viewer' : 'admin')

const NOTHING = fields({})
type Nothing = typeof NOTHING

type Written<P extends AnySchema, Q extends AnySchema, B extends AnySchema, A extends AnySchema> = Omit<
  Endpoint<P, Q, B, A>,
  'params' | 'query' | 'status' | 'problems'
> &
  Partial<Pick<Endpoint<P, Q, B, A>, 'params' | 'query' | 'status' | 'problems'>>

/** A row of the table, with its types checked against each other. */
export const endpoint = <
  P extends AnySchema = Nothing,
  Q extends AnySchema = Nothing,
  B extends AnySchema = Nothing,
  A extends AnySchema = Nothing,
>(
  row: Written<P, Q, B, A>,
): Endpoint =>
  ({
    ...{
      params: NOTHING,
      query: NOTHING,
      problems: [],
      status: row.answer === undefined && row.live === undefined ? 204 : 200,
    },
    ...row,
    // The table holds rows of all types: each is called with what its own schemas let through.
  }) as unknown as Endpoint

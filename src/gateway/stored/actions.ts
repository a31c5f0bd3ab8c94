import type { IncomingMessage } from 'node:http'
import { invalid } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { type Meter, readJson } from '../../ingress/transport/body.ts'
import type { Reply } from '../call.ts'
import { pageOf } from './page.ts'
import type { State } from './state.ts'

/** A request about stored responses or conversations. */
export interface StoredQuery {
  readonly state: State
  readonly owner: string
  /** Id in the path. `item` is the id of an item within it. */
  readonly id: string
  readonly item: string
  readonly query: { readonly [name: string]: string }
  /** Request body. Empty for actions without one. */
  readonly body: JsonObject
}

type Action = (ask: StoredQuery) => Promise<JsonObject>

/**
 * Actions on stored responses and conversations (docs/wire/responses.md#endpoints). Each returns the body of a 200
 * answer.
 */
const ACTIONS = {
  'get-response': ({ state, owner, id }) => state.responses.response(owner, id),
  'delete-response': ({ state, owner, id }) => state.responses.remove(owner, id),
  'cancel-response': ({ state, owner, id }) => state.responses.cancel(owner, id),
  'input-items': ({ state, owner, id, query }) => state.responses.input(owner, id, pageOf(query)),
  'create-conversation': ({ state, owner, body }) => state.conversations.create(owner, body),
  'get-conversation': ({ state, owner, id }) => state.conversations.find(owner, id),
  'update-conversation': ({ state, owner, id, body }) => state.conversations.describe(owner, id, body),
  'delete-conversation': ({ state, owner, id }) => state.conversations.remove(owner, id),
  'list-items': ({ state, owner, id, query }) => state.conversations.list(owner, id, pageOf(query)),
  'add-items': ({ state, owner, id, body }) => state.conversations.add(owner, id, body),
  'get-item': ({ state, owner, id, item }) => state.conversations.item(owner, id, item),
  'delete-item': ({ state, owner, id, item }) => state.conversations.removeItem(owner, id, item),
} as const satisfies { readonly [name: string]: Action }

/** Actions that read a request body. */
const WITH_BODY: ReadonlySet<ActionName> = new Set(['create-conversation', 'update-conversation', 'add-items'])

export type ActionName = keyof typeof ACTIONS

/** A request about stored data at its endpoint. */
export interface StoredCall {
  /** Id of the request in errors. */
  readonly id: string
  readonly action: ActionName
  readonly message: IncomingMessage
  readonly queryKey?: string
  readonly of: Pick<StoredQuery, 'id' | 'item' | 'query'>
  readonly reply: Reply
}

/** Owner of the stored data, with limits: `heartbeat` in milliseconds, `limit` in bytes of a body. */
interface Access extends Pick<StoredQuery, 'state' | 'owner'> {
  readonly heartbeat: number
  readonly limit: number
  open(): Meter
}

/** Answers a request about stored data. Throws GatewayError, usually `not-found`. */
export async function answerStored(
  { action, message, of, reply }: StoredCall,
  { state, owner, heartbeat, limit, open }: Access,
): Promise<void> {
  const after = action === 'get-response' ? resumePosition(of.query) : undefined
  if (after !== undefined) return state.responses.resume(owner, of.id, after, reply, heartbeat)
  const body = WITH_BODY.has(action) ? await readJson(message, limit, open) : {}
  reply.whole(200, {}, JSON.stringify(await ACTIONS[action]({ ...of, state, owner, body })))
}

/**
 * Returns the sequence number after which a stream resumes. Undefined if no stream is requested. Throws GatewayError
 * `invalid-request`.
 */
function resumePosition({ stream, starting_after }: StoredQuery['query']): number | undefined {
  if (stream !== 'true' && stream !== '1') return undefined
  const after = Number(starting_after || '-1')
  if (Number.isInteger(after)) return after
  throw invalid('`starting_after` must be the sequence number of an event.', 'starting_after')
}

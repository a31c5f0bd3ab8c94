import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../canonical/error.ts'
import type { JsonObject } from '../canonical/node.ts'
import { jsonText } from '../egress/transport/json.ts'
import type { Reply } from '../gateway/call.ts'
import { type Meter, readJson } from '../ingress/transport/body.ts'
import { pageOf } from './page.ts'
import type { State } from './state.ts'

/** What is asked of what was kept. */
export interface Ask {
  readonly state: State
  readonly owner: string
  /** What stood in the path. */
  readonly id: string
  readonly item: string
  readonly query: { readonly [name: string]: string }
  /** Empty where none is taken. */
  readonly body: JsonObject
}

interface Action {
  readonly takesBody?: true
  answer(ask: Ask): Promise<JsonObject>
}

/** Everything that can be asked of kept responses and conversations (FORMATS §4), answered with the body of a 200. */
export const ACTIONS = {
  'get-response': { answer: async ({ state, owner, id }) => (await state.responses()).response(owner, id) },
  'delete-response': { answer: async ({ state, owner, id }) => (await state.responses()).remove(owner, id) },
  'cancel-response': { answer: async ({ state, owner, id }) => (await state.responses()).cancel(owner, id) },
  'input-items': {
    answer: async ({ state, owner, id, query }) => (await state.responses()).input(owner, id, pageOf(query)),
  },
  'create-conversation': {
    takesBody: true,
    answer: async ({ state, owner, body }) => (await state.conversations()).create(owner, body),
  },
  'get-conversation': { answer: async ({ state, owner, id }) => (await state.conversations()).find(owner, id) },
  'update-conversation': {
    takesBody: true,
    answer: async ({ state, owner, id, body }) => (await state.conversations()).describe(owner, id, body),
  },
  'delete-conversation': { answer: async ({ state, owner, id }) => (await state.conversations()).remove(owner, id) },
  'list-items': {
    answer: async ({ state, owner, id, query }) => (await state.conversations()).list(owner, id, pageOf(query)),
  },
  'add-items': {
    takesBody: true,
    answer: async ({ state, owner, id, body }) => (await state.conversations()).add(owner, id, body),
  },
  'get-item': { answer: async ({ state, owner, id, item }) => (await state.conversations()).item(owner, id, item) },
  'delete-item': {
    answer: async ({ state, owner, id, item }) => (await state.conversations()).removeItem(owner, id, item),
  },
} as const satisfies { readonly [name: string]: Action }

export type ActionName = keyof typeof ACTIONS

/** A question about something kept, at its endpoint. */
export interface KeptCall {
  /** Names the question in errors. */
  readonly id: string
  readonly action: ActionName
  readonly message: IncomingMessage
  readonly queryKey?: string
  readonly of: Pick<Ask, 'id' | 'item' | 'query'>
  readonly reply: Reply
}

/** Who asks, and within which limits: milliseconds of silence, bytes of a body. */
interface Asker extends Pick<Ask, 'state' | 'owner'> {
  readonly heartbeat: number
  readonly limit: number
  open(): Meter
}

/** Answers the question. Throws GatewayError, mostly `not-found`. */
export async function keptAnswer(
  { action, message, of, reply }: KeptCall,
  { state, owner, heartbeat, limit, open }: Asker,
): Promise<void> {
  const after = action === 'get-response' ? playedAfter(of.query) : undefined
  if (after !== undefined) return (await state.responses()).play(owner, of.id, after, reply, heartbeat)
  const row: Action = ACTIONS[action]
  const body = row.takesBody === true ? await readJson(message, limit, open) : {}
  reply.whole(200, {}, jsonText(await row.answer({ ...of, state, owner, body })))
}

/** The number after which a stream is wanted; undefined where no stream is. Throws GatewayError `invalid-request`. */
function playedAfter({ stream, starting_after }: Ask['query']): number | undefined {
  if (stream !== 'true' && stream !== '1') return undefined
  const after = Number(starting_after || '-1')
  if (Number.isInteger(after)) return after
  throw new GatewayError({
    kind: 'invalid-request',
    message: '`starting_after` must be the sequence number of an event.',
    param: 'starting_after',
  })
}

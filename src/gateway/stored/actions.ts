import type { IncomingMessage } from 'node:http'
import { invalid } from '../../canonical/error.ts'
import type { Format, JsonObject } from '../../canonical/node.ts'
import { type Meter, readJson } from '../../ingress/transport/body.ts'
import type { Reply } from '../call.ts'
import { type RequestMemoryHold, releaseWhenSent } from '../request-memory.ts'
import { FORMAT as INTERACTIONS } from './interactions-format.ts'
import { STORED_FORMAT } from './items.ts'
import { pageOf } from './page.ts'
import type { State } from './state.ts'

/** A request about stored responses or conversations. */
export interface StoredQuery {
  readonly state: State
  readonly owner: string
  /** Id in the path, for example of a conversation. */
  readonly id: string
  /** Id of an item of the conversation. */
  readonly item: string
  readonly query: { readonly [name: string]: string }
  /** Request body, which is empty for actions without one. */
  readonly body: JsonObject
}

const RESPONSES: Format = STORED_FORMAT

type Action = (query: StoredQuery) => Promise<JsonObject>

/**
 * Actions on stored responses and conversations (docs/wire/responses.md#endpoints). Each returns the body of a 200
 * answer.
 */
const ACTIONS = {
  'get-response': ({ state, owner, id }) => state.answers(RESPONSES).response(owner, id),
  'delete-response': ({ state, owner, id }) => state.answers(RESPONSES).remove(owner, id),
  'cancel-response': ({ state, owner, id }) => state.answers(RESPONSES).cancel(owner, id),
  'input-items': ({ state, owner, id, query }) => state.answers(RESPONSES).input(owner, id, pageOf(query)),
  'get-interaction': async ({ state, owner, id, query }) => {
    const interaction = await state.answers(INTERACTIONS).response(owner, id, true)
    return isTrue(query['include_input']) ? withInput(interaction) : interaction
  },
  'delete-interaction': ({ state, owner, id }) => state.answers(INTERACTIONS).remove(owner, id),
  'cancel-interaction': ({ state, owner, id }) => state.answers(INTERACTIONS).cancel(owner, id),
  'create-conversation': ({ state, owner, body }) => state.conversations.create(owner, body),
  'get-conversation': ({ state, owner, id }) => state.conversations.find(owner, id),
  'update-conversation': ({ state, owner, id, body }) => state.conversations.describe(owner, id, body),
  'delete-conversation': ({ state, owner, id }) => state.conversations.remove(owner, id),
  'list-items': ({ state, owner, id, query }) => state.conversations.list(owner, id, pageOf(query)),
  'add-items': ({ state, owner, id, body }) => state.conversations.add(owner, id, body),
  'get-item': ({ state, owner, id, item }) => state.conversations.item(owner, id, item),
  'delete-item': ({ state, owner, id, item }) => state.conversations.removeItem(owner, id, item),
} as const satisfies { readonly [name: string]: Action }

/** Returns the format of the stored answers that an action works on. */
export const formatOf = (action: ActionName): Format => (action.endsWith('-interaction') ? INTERACTIONS : RESPONSES)

/** Actions that read a request body. */
const WITH_BODY: ReadonlySet<ActionName> = new Set(['create-conversation', 'update-conversation', 'add-items'])

export type ActionName = keyof typeof ACTIONS

/** An HTTP request to a stored-data endpoint. */
export interface StoredCall {
  /** Request id, quoted in error bodies. */
  readonly id: string
  readonly action: ActionName
  readonly message: IncomingMessage
  readonly queryKey?: string
  readonly parameters: Pick<StoredQuery, 'id' | 'item' | 'query'>
  readonly reply: Reply
}

/** Owner of the stored data, and limits of the request. */
interface Access extends Pick<StoredQuery, 'state' | 'owner'> {
  /** Interval between two keep-alives on a silent stream, in milliseconds. */
  readonly heartbeat: number
  /** Maximum size of a body, in bytes. */
  readonly limit: number
  open(): Meter
  /**
   * Counts the memory of a body or of an answer until it is released. Undefined for a small one.
   *
   * @throws GatewayError if there is no memory for it.
   */
  memory(content: Buffer | string): RequestMemoryHold | undefined
}

/** Answers a request about stored data. Throws GatewayError, usually `not-found`. */
export async function answerStored(
  { action, message, parameters: of, reply }: StoredCall,
  { state, owner, heartbeat, limit, open, memory }: Access,
): Promise<void> {
  const position = RESUME_POSITIONS[action]
  const resumes = position !== undefined && (isTrue(of.query['stream']) || (await streamsByBody(message)))
  const resumeAfter = resumes ? position(of.query) : undefined
  if (resumeAfter !== undefined)
    return state.answers(formatOf(action)).resume(owner, of.id, resumeAfter, reply, heartbeat)
  let held: RequestMemoryHold | undefined
  try {
    const body = WITH_BODY.has(action) ? await readJson(message, limit, open, bytes => void (held = memory(bytes))) : {}
    const text = JSON.stringify(await ACTIONS[action]({ ...of, state, owner, body }))
    held?.release()
    held = memory(text)
    reply.whole(200, {}, text)
  } finally {
    releaseWhenSent(held, reply)
  }
}

const isTrue = (value: string | undefined): boolean => value === 'true' || value === '1'

/** Bytes; longest body of a GET request that is read. */
const SHORT_BODY = 1024

/** Returns true if the body requests a stream, as that of openai-go's GET does (`GetStreaming` of 3.98, 2026-12-01). */
async function streamsByBody(message: IncomingMessage): Promise<boolean> {
  const length = Number(message.headers['content-length'] ?? 0)
  if (!(length > 0 && length <= SHORT_BODY)) return false
  return await readJson(message, SHORT_BODY).then(
    ({ stream }) => stream === true,
    () => false,
  )
}

/**
 * Functions that return the index of the event after which a stream resumes, or -1 for its start. They throw
 * GatewayError `invalid-request` for an invalid query.
 */
const RESUME_POSITIONS: { readonly [A in ActionName]?: (query: StoredQuery['query']) => number } = {
  'get-response': ({ starting_after }) => {
    const after = Number(starting_after || '-1')
    if (Number.isInteger(after)) return after
    throw invalid('`starting_after` must be the sequence number of an event.', 'starting_after')
  },
  // Events of interactions are numbered from 1.
  'get-interaction': ({ last_event_id }) => {
    if (/^\d{0,16}$/.test(last_event_id ?? '')) return Number(last_event_id ?? '') - 1
    throw invalid('`last_event_id` must be the id of an event.', 'last_event_id')
  },
}

/** Returns an interaction whose `input` holds the caller's steps. */
function withInput(interaction: JsonObject): JsonObject {
  const steps = (interaction['steps'] ?? []) as readonly JsonObject[]
  const output = steps.findIndex(({ type }) => type !== 'user_input' && type !== 'function_result')
  return { ...interaction, input: output === -1 ? steps : steps.slice(0, output) }
}

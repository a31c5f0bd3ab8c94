import { GatewayError } from '../canonical/error.ts'
import { isObject, type Json, type JsonObject } from '../canonical/node.ts'
import type { Conversations } from '../store/conversations.ts'
import type { FoundItem, Link, Turn, Turns } from '../store/turns.ts'
import { itemsOf, referenceOf, unnamed } from './items.ts'
import { portable } from './portable.ts'

/** Where what came before is looked for. */
export interface Memories {
  /** The nearest first. */
  readonly turns: readonly Turns[]
  /** The turn that the request continues, where it was found already. */
  readonly found?: Turn | undefined
  readonly conversations: Conversations | undefined
  /** What is not here is nowhere. */
  readonly strict: boolean
}

/** Items that stand before those a caller sends. */
export interface Stored {
  readonly field: 'previous_response_id' | 'conversation'
  readonly items: number
}

/** What a request refers to instead of containing it. */
export interface ResolvedReferences {
  /** All of it is here. */
  readonly known: boolean
  /** The ids it is pointed at by. */
  readonly names: readonly string[]
  /** The field that points at it, and how many items there are. */
  readonly stored: Stored
  /** The items it adds, those it points at written out as far as they are here. */
  readonly input: readonly JsonObject[]
  /** The items of the body with everything written out that the caller did not send, as they are stored. */
  readonly added: readonly JsonObject[]
  /** The channel whose upstream remembers everything pointed at under the caller's own ids. */
  readonly channel: string | undefined
  /** An upstream of the format may know what is unknown here. */
  readonly mayPass: boolean
  /** The refusal that names what is missing. */
  readonly missing: GatewayError
  /**
   * The body with everything written out, where it is known: for upstreams of another format, or for one of the format
   * behind that channel, free of what only other upstreams could read.
   */
  whole(channel?: string): JsonObject
}

/**
 * Looks up the turns, the conversation and the items a body of responses points at; undefined where it points at none.
 *
 * @throws GatewayError `invalid-request` for a body with both, `not-found` for an unknown conversation.
 */
export async function resolveReferences(
  body: JsonObject,
  owner: string,
  memories: Memories,
): Promise<ResolvedReferences | undefined> {
  const pointed = pointersOf(body)
  if (pointed === undefined) return undefined
  const { previous, conversation, items } = pointed
  const references = items.flatMap(item => referenceOf(item) ?? [])
  const { links: before, missing: lost } = await linksOf(pointed, owner, memories)
  const found = references.length === 0 ? NOTHING : await itemsIn(memories.turns, owner, references)
  const resolved = before !== undefined && references.every(id => found.has(id))
  const barred = resolved ? false : await isBarred(lost, references, owner, memories)
  const written = (to: string | undefined) => items.flatMap(item => resolve(item, found, to))
  const whole = (to?: string): JsonObject => {
    const { previous_response_id: _, conversation: __, ...rest } = body
    const history = (before ?? []).flatMap(link => (to === undefined ? link.items.map(unnamed) : portable(link, to)))
    return { ...rest, input: [...history, ...written(to)] }
  }
  const channels = await channelsOf(pointed, references, found, owner, memories)
  return {
    known: resolved,
    names: [previous, conversation, ...references].filter(name => name !== undefined),
    stored: {
      field: previous === undefined ? 'conversation' : 'previous_response_id',
      items: (before ?? []).reduce((sum, link) => sum + link.items.length, 0),
    },
    whole,
    input: written(undefined),
    added: [...(before ?? []).flatMap(({ items }) => items), ...found.values().map(({ item }) => item)],
    channel: conversation === undefined && !barred && channels.size === 1 ? [...channels][0] : undefined,
    mayPass: !(resolved || barred || memories.strict),
    missing: missing(lost, pointed, references, found),
  }
}

interface Pointers {
  readonly previous: string | undefined
  readonly conversation: string | undefined
  readonly items: readonly JsonObject[]
}

function pointersOf(body: JsonObject): Pointers | undefined {
  const previous = textOf(body['previous_response_id'])
  const conversation = conversationOf(body)
  const items = itemsOf(body['input'])
  if (previous !== undefined && conversation !== undefined)
    throw new GatewayError({
      kind: 'invalid-request',
      message: 'A request continues a response or a conversation, not both.',
      param: 'previous_response_id',
      code: 'mutually_exclusive_parameters',
    })
  const points = previous ?? conversation ?? items.find(item => referenceOf(item) !== undefined)
  return points === undefined ? undefined : { previous, conversation, items }
}

const textOf = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** The id of the conversation a body belongs to. */
export const conversationOf = ({ conversation }: JsonObject): string | undefined =>
  textOf(isObject(conversation) ? conversation['id'] : conversation)

const NOTHING: ReadonlyMap<string, FoundItem> = new Map()

/** What came before a request, or the id of what is missing of it. */
type Before =
  | { readonly links: readonly Link[]; readonly missing?: never }
  | { readonly links?: never; readonly missing: string }

async function linksOf(
  { previous, conversation }: Pointers,
  owner: string,
  { turns, conversations }: Memories,
): Promise<Before> {
  if (previous !== undefined) return chainOf(turns, owner, previous)
  if (conversation === undefined) return { links: [] }
  const items = await conversations?.items(owner, conversation)
  return items === undefined ? { missing: conversation } : { links: [{ items }] }
}

/** The turns up to that one; a chain may begin in one memory and end in the next. */
async function chainOf(memories: readonly Turns[], owner: string, id: string): Promise<Before> {
  let at: string | undefined = id
  let links: readonly Link[] = []
  for (const memory of memories) {
    if (at === undefined) break
    const chain = await memory.chain(owner, at)
    if (chain === undefined) continue
    links = [...chain.links, ...links]
    at = chain.before
  }
  return at === undefined ? { links } : { missing: at }
}

/** The items, each from the first memory that has it. */
async function itemsIn(memories: readonly Turns[], owner: string, ids: readonly string[]) {
  const found = new Map<string, FoundItem>()
  for (const memory of memories) {
    const wanted = ids.filter(id => !found.has(id))
    if (wanted.length > 0) for (const [id, item] of await memory.items(owner, wanted)) found.set(id, item)
  }
  return found
}

async function isBarred(
  lost: string | undefined,
  references: readonly string[],
  owner: string,
  { turns, conversations }: Memories,
): Promise<boolean> {
  const ids = lost === undefined ? references : [lost, ...references]
  for (const memory of turns) if (ids.length > 0 && (await memory.barred(owner, ids))) return true
  return lost !== undefined && (await conversations?.barred(owner, lost)) === true
}

/** Which upstreams remember what is pointed at; one that was made elsewhere counts as a separate upstream. */
async function channelsOf(
  { previous }: Pointers,
  references: readonly string[],
  found: ReadonlyMap<string, FoundItem>,
  owner: string,
  { turns, found: continued }: Memories,
): Promise<ReadonlySet<string | undefined>> {
  const channels = new Set(references.map(id => rememberedBy(found.get(id))))
  if (previous === undefined) return channels
  if (continued !== undefined) return channels.add(rememberedBy(continued))
  for (const memory of turns) {
    const turn = await memory.find(owner, previous)
    if (turn !== undefined) return channels.add(rememberedBy(turn))
  }
  return channels.add(undefined)
}

const rememberedBy = (kept: { readonly channel?: string; readonly remembered?: true } | undefined) =>
  kept?.remembered === true ? kept.channel : undefined

function resolve(item: JsonObject, found: ReadonlyMap<string, FoundItem>, to: string | undefined) {
  const reference = referenceOf(item)
  const kept = reference === undefined ? undefined : found.get(reference)
  if (kept === undefined) return [item]
  return to === undefined ? [unnamed(kept.item)] : portable({ items: [kept.item], ...channelOf(kept) }, to)
}

const channelOf = ({ channel }: FoundItem) => (channel === undefined ? {} : { channel })

function missing(
  lost: string | undefined,
  { previous, conversation }: Pointers,
  references: readonly string[],
  found: ReadonlyMap<string, FoundItem>,
): GatewayError {
  if (lost !== undefined && lost === conversation)
    return new GatewayError({
      kind: 'not-found',
      message: `Conversation with id '${lost}' not found.`,
      param: 'conversation',
      code: 'conversation_not_found',
    })
  if (lost !== undefined)
    return new GatewayError({
      kind: 'invalid-request',
      message:
        lost === previous
          ? `Previous response with id '${lost}' not found.`
          : `Response with id '${lost}' not found, which '${previous}' continues.`,
      param: 'previous_response_id',
      code: 'previous_response_not_found',
    })
  const item = references.find(id => !found.has(id))
  return new GatewayError({
    kind: 'invalid-request',
    message: `Item with id '${item}' not found.`,
    param: 'input',
    code: 'item_not_found',
  })
}

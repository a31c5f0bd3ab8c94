import { type GatewayError, invalid, notFound } from '../../canonical/error.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { Conversations } from '../../store/conversation-repository.ts'
import type { FoundItem, Link, Turn, Turns } from '../../store/turns.ts'
import { referenceOf, STORED_FORMAT, withoutGatewayId } from './items.ts'
import { capitalized, type StoredFormat } from './stored-format.ts'

/** The repositories of earlier turns. */
export interface TurnSources {
  /** Repositories of turns, in the order in which they are searched. */
  readonly turns: readonly Turns[]
  /** Turn that the request continues, if it was already found. */
  readonly found?: Turn | undefined
  readonly conversations: Conversations | undefined
  /** True if turns that these repositories lack exist nowhere else. */
  readonly strict: boolean
  readonly format: StoredFormat
}

/** Stored items that precede the caller's items, and the field that refers to them. */
export interface StoredItems {
  readonly field: StoredFormat['previousField'] | 'conversation'
  readonly items: number
}

/** The stored turns, items and conversation that a request refers to. */
export interface ResolvedReferences {
  /** True if everything referenced was found here. */
  readonly isResolved: boolean
  /** The referenced ids. */
  readonly referencedIds: readonly string[]
  /** Field with the reference, and number of stored items. */
  readonly stored: StoredItems
  /** Items that the request adds, with item references resolved where possible. */
  readonly input: readonly JsonObject[]
  /** All stored items that the resolved body contains in addition to the caller's. */
  readonly storedItems: readonly JsonObject[]
  /** Channel whose upstream stores everything referenced under the caller's ids. */
  readonly channel: string | undefined
  /** True if an upstream of the format may store what is missing here. */
  readonly mayForward: boolean
  /** Error that names the missing reference. */
  readonly missing: GatewayError
  /**
   * Returns the body with all references resolved, if everything was found. With a channel, the body is for the
   * channel's upstream of the format, and omits content that only other upstreams can read. Without a channel, the body
   * is for other formats.
   */
  resolvedBody(channel?: string): JsonObject
}

/**
 * Resolves the turns, conversation and items that a body refers to. Returns undefined if there are no references.
 *
 * @throws GatewayError `invalid-request` for a body with both a previous response and a conversation, `not-found` for
 * an unknown conversation.
 */
export async function resolveReferences(
  body: JsonObject,
  owner: string,
  sources: TurnSources,
): Promise<ResolvedReferences | undefined> {
  const { format } = sources
  const pointers = pointersOf(body, format)
  if (pointers === undefined) return undefined
  const { previous, conversation, items, references } = pointers
  const { links, missing: missingId } = await linksOf(pointers, owner, sources)
  const found = await itemsIn(sources.turns, owner, references)
  const resolved = links !== undefined && references.every(id => found.has(id))
  const isForbidden = resolved ? false : await isAnyForbidden(pointers, missingId, owner, sources)
  const resolvedItems = (to: string | undefined) => items.flatMap(item => resolve(format, item, found, to))
  const resolvedBody = (to?: string): JsonObject => {
    const { [format.previousField]: _, conversation: __, ...rest } = body
    const history = (links ?? []).flatMap(link => itemsFor(format, link.items, link.channel, to))
    return { ...rest, input: [...history, ...resolvedItems(to)] }
  }
  const channels = await channelsOf(pointers, found, owner, sources)
  return {
    isResolved: resolved,
    referencedIds: [previous, conversation, ...references].filter(name => name !== undefined),
    stored: {
      field: previous === undefined ? 'conversation' : format.previousField,
      items: (links ?? []).reduce((sum, link) => sum + link.items.length, 0),
    },
    resolvedBody,
    input: resolvedItems(undefined),
    storedItems: [...(links ?? []).flatMap(({ items }) => items), ...found.values().map(({ item }) => item)],
    channel: conversation === undefined && !isForbidden && channels.size === 1 ? [...channels][0] : undefined,
    mayForward: !(resolved || isForbidden || sources.strict),
    missing: missingReference(pointers, missingId, found, format),
  }
}

interface Pointers {
  readonly previous: string | undefined
  readonly conversation: string | undefined
  readonly items: readonly JsonObject[]
  /** Ids of items that the input refers to. */
  readonly references: readonly string[]
}

function pointersOf(body: JsonObject, { previousField, itemsOf, format }: StoredFormat): Pointers | undefined {
  const previous = textOf(body[previousField])
  const items = itemsOf(body['input'])
  // Only responses have conversations and references to items.
  if (format !== STORED_FORMAT)
    return previous === undefined ? undefined : { previous, conversation: undefined, items, references: [] }
  const conversation = conversationOf(body)
  if (previous !== undefined && conversation !== undefined)
    throw invalid(
      'A request continues a response or a conversation, not both.',
      'previous_response_id',
      'mutually_exclusive_parameters',
    )
  const references = items.flatMap(item => referenceOf(item) ?? [])
  const firstPointer = previous ?? conversation ?? references[0]
  return firstPointer === undefined ? undefined : { previous, conversation, items, references }
}

const textOf = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** Returns the id of the conversation that a body belongs to. */
export const conversationOf = ({ conversation }: JsonObject): string | undefined =>
  textOf(isObject(conversation) ? conversation['id'] : conversation)

/** Earlier turns of a request, or the id of the missing turn. */
type EarlierTurns =
  | { readonly links: readonly Link[]; readonly missing?: never }
  | { readonly links?: never; readonly missing: string }

async function linksOf(
  { previous, conversation }: Pointers,
  owner: string,
  { turns, conversations, format }: TurnSources,
): Promise<EarlierTurns> {
  if (previous !== undefined) return format.isId(previous) ? chainOf(turns, owner, previous) : { missing: previous }
  if (conversation === undefined) return { links: [] }
  const items = await conversations?.items(owner, conversation)
  return items === undefined ? { missing: conversation } : { links: [{ items }] }
}

/** Returns the turns up to the given one. A chain may continue in the next repository. */
async function chainOf(sources: readonly Turns[], owner: string, id: string): Promise<EarlierTurns> {
  let next: string | undefined = id
  let links: readonly Link[] = []
  for (const repository of sources) {
    if (next === undefined) break
    const chain = await repository.chain(owner, next)
    if (chain === undefined) continue
    links = [...chain.links, ...links]
    next = chain.before
  }
  return next === undefined ? { links } : { missing: next }
}

/** Finds the items, each in the first repository that has it. */
async function itemsIn(sources: readonly Turns[], owner: string, ids: readonly string[]) {
  const found = new Map<string, FoundItem>()
  for (const repository of sources) {
    const wanted = ids.filter(id => !found.has(id))
    if (wanted.length > 0) for (const [id, item] of await repository.items(owner, wanted)) found.set(id, item)
  }
  return found
}

async function isAnyForbidden(
  { references }: Pointers,
  missingId: string | undefined,
  owner: string,
  { turns, conversations }: TurnSources,
): Promise<boolean> {
  const ids = missingId === undefined ? references : [missingId, ...references]
  for (const repository of turns) if (ids.length > 0 && (await repository.isForbidden(owner, ids))) return true
  return missingId !== undefined && (await conversations?.isForbidden(owner, missingId)) === true
}

/**
 * Returns the channels whose upstreams store the references. The set contains undefined if an upstream does not store
 * its reference.
 */
async function channelsOf(
  { previous, references }: Pointers,
  found: ReadonlyMap<string, FoundItem>,
  owner: string,
  { turns, found: continuedTurn }: TurnSources,
): Promise<ReadonlySet<string | undefined>> {
  const channels = new Set(references.map(id => storingChannel(found.get(id))))
  if (previous === undefined) return channels
  if (continuedTurn !== undefined) return channels.add(storingChannel(continuedTurn))
  for (const repository of turns) {
    const turn = await repository.find(owner, previous)
    if (turn !== undefined) return channels.add(storingChannel(turn))
  }
  return channels.add(undefined)
}

const storingChannel = (stored: { readonly channel?: string; readonly remembered?: true } | undefined) =>
  stored?.remembered === true ? stored.channel : undefined

function resolve(
  format: StoredFormat,
  item: JsonObject,
  found: ReadonlyMap<string, FoundItem>,
  to: string | undefined,
): readonly JsonObject[] {
  const reference = format.format === STORED_FORMAT ? referenceOf(item) : undefined
  const stored = reference === undefined ? undefined : found.get(reference)
  if (stored === undefined) return [item]
  return itemsFor(format, [stored.item], stored.channel, to)
}

/** Returns stored items in the form for a channel's upstream or, without a channel, for other formats. */
const itemsFor = (
  format: StoredFormat,
  items: readonly JsonObject[],
  from: string | undefined,
  to: string | undefined,
): readonly JsonObject[] => (to === undefined ? items.map(withoutGatewayId) : format.portable(items, from, to))

function missingReference(
  { previous, conversation, references }: Pointers,
  missingId: string | undefined,
  found: ReadonlyMap<string, FoundItem>,
  { previousField, noun, missingCode }: StoredFormat,
): GatewayError {
  if (missingId !== undefined && missingId === conversation)
    return notFound(`Conversation with id '${missingId}' not found.`, 'conversation', 'conversation_not_found')
  if (missingId !== undefined) {
    const message =
      missingId === previous
        ? `Previous ${noun} with id '${missingId}' not found.`
        : `${capitalized(noun)} with id '${missingId}' not found, which '${previous}' continues.`
    return invalid(message, previousField, missingCode)
  }
  const item = references.find(id => !found.has(id))
  return invalid(`Item with id '${item}' not found.`, 'input', 'item_not_found')
}

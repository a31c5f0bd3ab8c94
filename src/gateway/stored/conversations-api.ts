import { type GatewayError, invalid, notFound } from '../../canonical/error.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { Conversation, Conversations } from '../../store/conversation-repository.ts'
import type { Turns } from '../../store/turns.ts'
import { freshId } from '../../store/usage/request-id.ts'
import { referenceOf, withId } from './items.ts'
import { type Page, paged, shownItem } from './page.ts'

/** Maximum number of items added per request. */
const MAX_ITEMS = 20

/**
 * Actions on conversations (docs/wire/responses.md#conversations). They throw GatewayError `not-found` for another
 * owner's conversation.
 */
export class ConversationsApi {
  private readonly conversations: Conversations
  private readonly turns: Pick<Turns, 'items'>
  private readonly lifetime: number

  /**
   * @param turns all stored items, to which new items may refer.
   * @param lifetime time for which a conversation is stored after items were last added, in milliseconds.
   */
  constructor(conversations: Conversations, turns: Pick<Turns, 'items'>, lifetime: number) {
    this.conversations = conversations
    this.turns = turns
    this.lifetime = lifetime
  }

  async create(owner: string, body: JsonObject): Promise<JsonObject> {
    const items = body['items'] == null ? [] : await this.newItems(owner, body['items'])
    const now = Date.now()
    const conversation = {
      ...{ owner, id: `conv_${freshId()}`, metadata: metadataIn(body['metadata']) },
      ...{ createdAt: now, expiresAt: now + this.lifetime },
    }
    await this.conversations.create(conversation, items)
    return shownConversation(conversation)
  }

  async find(owner: string, id: string): Promise<JsonObject> {
    const conversation = await this.conversations.find(owner, id)
    if (conversation === undefined) throw notFoundError(id)
    return shownConversation(conversation)
  }

  async describe(owner: string, id: string, body: JsonObject): Promise<JsonObject> {
    if (!(await this.conversations.describe(owner, id, metadataIn(body['metadata'])))) throw notFoundError(id)
    return this.find(owner, id)
  }

  async remove(owner: string, id: string): Promise<JsonObject> {
    if (!(await this.conversations.drop(owner, id))) throw notFoundError(id)
    return { id, object: 'conversation.deleted', deleted: true }
  }

  async list(owner: string, id: string, page: Page): Promise<JsonObject> {
    return paged(await this.items(owner, id), page)
  }

  async add(owner: string, id: string, body: JsonObject): Promise<JsonObject> {
    const items = await this.newItems(owner, body['items'])
    if (!(await this.conversations.add(owner, id, items, Date.now() + this.lifetime))) throw notFoundError(id)
    return paged(items.map(shownItem), { limit: items.length, order: 'asc', after: undefined })
  }

  async item(owner: string, id: string, item: string): Promise<JsonObject> {
    const found = (await this.items(owner, id)).find(candidate => candidate['id'] === item)
    if (found === undefined) throw notFoundError(item, 'Item')
    return found
  }

  /** Removes an item and returns the conversation. */
  async removeItem(owner: string, id: string, item: string): Promise<JsonObject> {
    const conversation = await this.find(owner, id)
    if (!(await this.conversations.dropItem(owner, id, item))) throw notFoundError(item, 'Item')
    return conversation
  }

  /**
   * Reads the items of a request. A reference becomes the owner's item that it names, because an upstream would resolve
   * it among the items of all keys.
   */
  private async newItems(owner: string, value: Json | undefined): Promise<readonly JsonObject[]> {
    const items = itemsIn(value)
    const references = items.flatMap(item => referenceOf(item) ?? [])
    if (references.length === 0) return items
    const found = await this.turns.items(owner, references)
    return items.map(item => {
      const id = referenceOf(item)
      const stored = id === undefined ? item : found.get(id)?.item
      if (stored === undefined) throw invalid(`Item with id '${id}' not found.`, 'items', 'item_not_found')
      return stored
    })
  }

  private async items(owner: string, id: string): Promise<readonly JsonObject[]> {
    const items = await this.conversations.items(owner, id)
    if (items === undefined) throw notFoundError(id)
    return items.map(shownItem)
  }
}

const shownConversation = ({ id, metadata, createdAt }: Conversation): JsonObject => ({
  ...{ id, object: 'conversation', created_at: Math.floor(createdAt / 1000), metadata },
})

function itemsIn(value: Json | undefined): readonly JsonObject[] {
  if (!Array.isArray(value) || !value.every(isObject)) throw invalid('`items` must be a list of items.', 'items')
  if (value.length > MAX_ITEMS) throw invalid(`At most ${MAX_ITEMS} items can be added at once.`, 'items')
  return value.map(withId)
}

function metadataIn(value: Json | undefined): JsonObject {
  if (value == null) return {}
  if (!isObject(value)) throw invalid('`metadata` must be an object.', 'metadata')
  return value
}

const notFoundError = (id: string, what: 'Conversation' | 'Item' = 'Conversation'): GatewayError =>
  notFound(`${what} with id '${id}' not found.`)

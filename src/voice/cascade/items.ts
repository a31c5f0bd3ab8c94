import type { MediaPart, Part } from '../../canonical/content.ts'
import { type CanonicalError, GatewayError } from '../../canonical/error.ts'
import { excerpt } from '../../canonical/text.ts'
import type { ConversationItem } from '../../canonical/voice-session.ts'
import type { Position, ServerEvent } from '../../canonical/voice-session-event.ts'
import { CONVERSATION_TOO_LARGE, Conversation, errorEvent, type IdentifiedItem, sizeOf } from '../conversation.ts'
import { spokenPart } from './outputs.ts'
import type { Playback } from './playback.ts'

/** Maximum size of a conversation, in characters, including base64 text. */
const MAX_SIZE = 32 * 2 ** 20

/** Audio of one part of an item, as PCM16 at 16 kHz. */
interface PartAudio {
  readonly part: number
  readonly audio: Uint8Array
}

/** Items of a cascade's conversation, with the playback state of spoken items. */
export class Items {
  readonly conversation: Conversation
  private readonly playbacks = new Map<string, Playback>()
  private size = 0

  constructor(newId: (prefix: string) => string) {
    this.conversation = new Conversation(newId)
  }

  /** Adds a client's item without its audio. Returns the recordings that still need a transcript. */
  create(
    item: ConversationItem,
    after: Position | undefined,
    event: string | undefined,
  ): { readonly events: readonly ServerEvent[]; readonly recordings: readonly PartAudio[] } {
    if (this.size + sizeOf(item) > MAX_SIZE)
      return { events: [errorEvent(CONVERSATION_TOO_LARGE, event)], recordings: [] }
    const recordings = item.content.flatMap((part, index) => {
      const audio = audioOf(part)
      return audio === undefined ? [] : [{ part: index, audio }]
    })
    const storedItem = { ...item, content: item.content.map(withoutAudio) }
    const events = this.conversation.create(storedItem, after, event)
    const added = events[0]?.type === 'item-added' ? events[0].item : undefined
    if (added === undefined) return { events, recordings: [] }
    this.size += sizeOf(added)
    return { events, recordings }
  }

  /**
   * Appends an item created by the session. Returns the id of the previous item. Returns undefined if the conversation
   * is full.
   */
  insert(item: IdentifiedItem, playback?: Playback): Position | undefined {
    if (this.size > MAX_SIZE) return undefined
    try {
      const { added, previous } = this.conversation.insert(item)
      this.size += sizeOf(added)
      if (playback !== undefined) this.playbacks.set(item.id, playback)
      return previous
    } catch (thrown) {
      if (thrown instanceof GatewayError) return undefined
      throw thrown
    }
  }

  /** Returns true if the conversation has a call with this id. */
  hasCall(id: string): boolean {
    return this.conversation.items.some(({ content: [first] }) => first?.type === 'tool-call' && first.id === id)
  }

  /** Returns true if the conversation has a result of the call with this id. */
  hasResult(id: string): boolean {
    return this.conversation.items.some(({ content: [first] }) => first?.type === 'tool-result' && first.id === id)
  }

  /** Replaces the item with the same id. Does nothing if the item was deleted. */
  replace(item: IdentifiedItem): void {
    const before = this.conversation.get(item.id)
    if (before === undefined) return
    this.size += sizeOf(item) - sizeOf(before)
    this.conversation.replace(item)
  }

  delete(id: string, event: string | undefined): readonly ServerEvent[] {
    const item = this.conversation.get(id)
    if (item !== undefined) this.size -= sizeOf(item)
    this.playbacks.delete(id)
    return this.conversation.delete(id, event)
  }

  /**
   * Truncates a spoken item to the audio that was played, so that the history contains only the words that the user
   * heard.
   */
  truncate(id: string, part: number, audioEndMs: number, event: string | undefined): ServerEvent {
    const playback = this.playbacks.get(id)
    const item = this.conversation.get(id)
    if (playback === undefined || item === undefined || part !== 0) return errorEvent(audioNotFound(id), event)
    playback.truncate(Math.max(0, audioEndMs))
    this.replace({ ...item, content: [spokenPart(playback.text)] })
    return { type: 'item-truncated', item: id, part, audioEndMs }
  }
}

const isAudio = (part: Part): part is MediaPart => part.type === 'media' && part.kind === 'audio'

/** Decodes a recording that has no transcript yet. Returns undefined for any other part. */
function audioOf(part: Part): Uint8Array | undefined {
  if (!isAudio(part) || part.source.type !== 'base64' || part.source.data === '') return undefined
  return part.transcript === undefined ? Buffer.from(part.source.data, 'base64') : undefined
}

const withoutAudio = (part: Part): Part =>
  isAudio(part) && part.source.type === 'base64' ? { ...part, source: { ...part.source, data: '' } } : part

const audioNotFound = (id: string): CanonicalError => ({
  kind: 'invalid-request',
  code: 'invalid_value',
  param: 'item_id',
  message: `The item "${excerpt(id)}" has no assistant audio to truncate.`,
})

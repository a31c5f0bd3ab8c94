import type { Part } from '../../../canonical/content.ts'
import type { ItemStatus } from '../../../canonical/voice-session.ts'
import type { OutputPosition, Position, ServerEvent } from '../../../canonical/voice-session-event.ts'
import { type Conversation, type IdentifiedItem, sizeOf } from '../../conversation.ts'
import type { TextBudget } from './text-budget.ts'

interface OpenPart {
  readonly at: OutputPosition
  readonly kind: 'text' | 'audio'
  text: string
}

export interface ResponseOptions {
  readonly requested: boolean
  readonly conversation: Conversation
  readonly textBudget: TextBudget
  readonly newId: (prefix: string) => string
}

/** Size of a part without its text, in characters of the budget. */
const PART_SIZE = 100

/** An open message. Parts beyond the budget are counted, but not stored. */
interface Message {
  readonly item: string
  readonly output: number
  readonly parts: Part[]
  count: number
}

/**
 * A response that is still arriving: one message with its parts, followed by function calls. Its methods return the
 * events for each piece.
 */
export class OpenResponse {
  readonly id: string
  /** True if `response-create` requested the response, false if the upstream's turn detection started it. */
  readonly requested: boolean
  /** Number of items so far. */
  outputs = 0
  private readonly conversation: Conversation
  private readonly textBudget: TextBudget
  private readonly newId: (prefix: string) => string
  /** The open message and its finished parts. */
  private message: Message | undefined
  private part: OpenPart | undefined

  constructor({ requested, conversation, textBudget, newId }: ResponseOptions) {
    this.requested = requested
    this.conversation = conversation
    this.textBudget = textBudget
    this.newId = newId
    this.id = newId('resp')
  }

  text(text: string): ServerEvent[] {
    const events: ServerEvent[] = []
    const part = this.open('text', events)
    part.text = this.textBudget.append(part.text, text)
    events.push({ type: 'text-delta', at: part.at, text })
    return events
  }

  transcript(text: string): ServerEvent[] {
    const events: ServerEvent[] = []
    const part = this.open('audio', events)
    part.text = this.textBudget.append(part.text, text)
    events.push({ type: 'transcript-delta', at: part.at, text })
    return events
  }

  audio(audio: Uint8Array): ServerEvent[] {
    const events: ServerEvent[] = []
    events.push({ type: 'audio-delta', at: this.open('audio', events).at, audio })
    return events
  }

  call(id: string, name: string, args: string): ServerEvent[] {
    const events = this.closeMessage('completed')
    const output = this.outputs++
    const empty = { type: 'tool-call' as const, id, name, arguments: '' }
    const { item, after } = this.add([empty])
    const at = { response: this.id, item: item.id, output, part: 0 }
    events.push(
      { type: 'output-start', response: this.id, output, item, after },
      { type: 'arguments-delta', at, text: args },
      { type: 'output-end', response: this.id, output, item: item.id, status: 'completed' },
    )
    const stored = { ...empty, arguments: this.textBudget.append('', args) }
    this.conversation.replace({ ...item, content: [stored], status: 'completed' })
    return events
  }

  /** Closes the open message. The caller adds `response-end` with the reason. */
  close(status: ItemStatus): ServerEvent[] {
    return this.closeMessage(status)
  }

  private open(kind: OpenPart['kind'], events: ServerEvent[]): OpenPart {
    if (this.part?.kind === kind) return this.part
    this.message ??= this.startMessage(events)
    this.closePart(events)
    const { item, output } = this.message
    this.part = { at: { response: this.id, item, output, part: this.message.count++ }, kind, text: '' }
    events.push({ type: 'part-start', at: this.part.at, kind })
    return this.part
  }

  private startMessage(events: ServerEvent[]): Message {
    const output = this.outputs++
    const { item, after } = this.add([])
    events.push({ type: 'output-start', response: this.id, output, item, after })
    return { item: item.id, output, parts: [], count: 0 }
  }

  private closePart(events: ServerEvent[]): void {
    const { part, message } = this
    if (part === undefined) return
    this.part = undefined
    if (this.textBudget.spend(PART_SIZE))
      message!.parts.push(
        part.kind === 'text'
          ? { type: 'text', text: part.text }
          : { type: 'media', kind: 'audio', source: OMITTED_AUDIO, transcript: part.text },
      )
    events.push({ type: 'part-end', at: part.at })
  }

  private closeMessage(status: ItemStatus): ServerEvent[] {
    const { message } = this
    if (message === undefined) return []
    const events: ServerEvent[] = []
    this.closePart(events)
    this.message = undefined
    const { item, output, parts } = message
    events.push({ type: 'output-end', response: this.id, output, item, status })
    this.conversation.replace({ id: item, role: 'assistant', content: parts, status })
    return events
  }

  private add(content: readonly Part[]): { readonly item: IdentifiedItem; readonly after: Position } {
    const item: IdentifiedItem = { id: this.newId('item'), role: 'assistant', content }
    if (!this.textBudget.spend(sizeOf(item))) return { item, after: this.conversation.last }
    return addGenerated(this.conversation, item)
  }
}

/** Placeholder for audio that belongs to an item but is not stored. */
export const OMITTED_AUDIO = { type: 'base64', mediaType: 'audio/pcm', data: '' } as const

/** Adds an item that the client did not create. If the conversation is full, the item is announced but not stored. */
export function addGenerated(
  conversation: Conversation,
  item: IdentifiedItem,
): { item: IdentifiedItem; after: Position } {
  const after = conversation.last
  try {
    conversation.insert(item)
  } catch {
    // The conversation is full, so the item cannot be retrieved later.
  }
  return { item, after }
}

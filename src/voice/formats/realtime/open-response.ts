import type { Part, ToolCallPart } from '../../../canonical/content.ts'
import type { Json, JsonObject } from '../../../canonical/node.ts'
import type { ConversationItem, ItemStatus } from '../../../canonical/voice-session.ts'
import type { OutputPosition } from '../../../canonical/voice-session-event.ts'
import { writeItem } from './items.ts'
import type { Naming } from './wire.ts'

/** An output part that is being written, with its text, transcript or arguments so far. */
export class OpenPart {
  readonly kind: 'text' | 'audio' | 'call'
  /** Id of a function call, or undefined for other parts. */
  readonly callId: string | undefined
  text = ''
  done = false
  /** Constant prefixes of the part's delta frames, by kind of delta. */
  readonly heads: { [deltaKind: string]: string } = {}

  constructor(kind: OpenPart['kind'], callId?: string) {
    this.kind = kind
    this.callId = callId
  }

  /** Returns the part's wire form in content-part events or in items. */
  value(ofEvent: boolean): JsonObject {
    if (this.kind === 'text') return { type: ofEvent ? 'text' : 'output_text', text: this.text }
    return { type: ofEvent ? 'audio' : 'output_audio', transcript: this.text }
  }

  /** The part as canonical content of an item. */
  get part(): Part {
    if (this.kind === 'text') return { type: 'text', text: this.text }
    return {
      type: 'media',
      kind: 'audio',
      source: { type: 'base64', mediaType: 'audio/pcm', data: '' },
      transcript: this.text,
    }
  }
}

interface OpenOutput {
  readonly output: number
  readonly item: ConversationItem & { readonly id: string }
  readonly parts: Map<number, OpenPart>
  /** The complete item, once it has ended. */
  closed?: ConversationItem
}

/** A response that is being written. Collects items and texts, because the final events repeat them in full. */
export class OpenResponse {
  private readonly id: string
  private readonly naming: Naming
  private readonly head: JsonObject
  private readonly outputs = new Map<number, OpenOutput>()

  constructor(id: string, naming: Naming, head: JsonObject) {
    this.id = id
    this.naming = naming
    this.head = head
  }

  /** True if the response is outside the conversation. */
  get isDetached(): boolean {
    return this.head['conversation_id'] === null
  }

  add(output: number, item: OpenOutput['item']): void {
    const parts = new Map<number, OpenPart>()
    const [call] = item.content
    if (call?.type === 'tool-call') parts.set(0, new OpenPart('call', call.id))
    this.outputs.set(output, { output, item, parts })
  }

  startPart({ output, part }: OutputPosition, kind: 'text' | 'audio'): OpenPart | undefined {
    const open = this.outputs.get(output)
    if (open === undefined) return undefined
    const added = new OpenPart(kind)
    open.parts.set(part, added)
    return added
  }

  /** Returns the part to which a delta belongs. Creates the part if no event started it. */
  part({ output, part }: OutputPosition, deltaKind: string): OpenPart | undefined {
    const open = this.outputs.get(output)
    if (open === undefined) return undefined
    let found = open.parts.get(part)
    if (found === undefined) {
      found = new OpenPart(deltaKind === 'text' ? 'text' : 'audio')
      open.parts.set(part, found)
    }
    return found
  }

  /** Ends a part. Returns undefined if the part is not open. */
  end({ output, part }: OutputPosition): OpenPart | undefined {
    const found = this.outputs.get(output)?.parts.get(part)
    if (found === undefined || found.done || found.kind === 'call') return undefined
    found.done = true
    return found
  }

  /** Ends an item and its open parts. Returns undefined if the item has already ended. */
  close(output: number, status: ItemStatus) {
    const open = this.outputs.get(output)
    if (open === undefined || open.closed !== undefined) return undefined
    const openParts = [...open.parts].filter(([, { done, kind }]) => !done && kind !== 'call')
    for (const [, part] of openParts) part.done = true
    const [first] = open.item.content
    const call: ToolCallPart | undefined =
      first?.type === 'tool-call' ? { ...first, arguments: open.parts.get(0)?.text ?? '' } : undefined
    const contentParts = [...open.parts.values()].map(({ part }) => part)
    const content = call !== undefined ? [call] : contentParts.length === 0 ? open.item.content : contentParts
    const item = { ...open.item, content, status }
    open.closed = item
    const at = (part: number): OutputPosition => ({ response: this.id, item: item.id, output, part })
    return { item, call, parts: openParts.map(([part, one]) => ({ at: at(part), part: one })) }
  }

  /** Items that have not ended, with their output indexes. */
  get unfinished(): readonly { readonly output: number; readonly item: string }[] {
    return [...this.outputs.values()]
      .filter(({ closed }) => closed === undefined)
      .map(({ output, item }) => ({ output, item: item.id }))
  }

  /** Writes the `response` object. */
  value(status: string, details: Json, usage: Json): JsonObject {
    const items = [...this.outputs.values()].flatMap(({ closed }) => closed ?? [])
    return {
      object: 'realtime.response',
      id: this.id,
      status,
      status_details: details,
      output: items.map(item => writeItem(item, this.naming, true)),
      ...this.head,
      usage,
    }
  }
}

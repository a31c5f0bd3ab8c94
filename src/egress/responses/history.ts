import type { Part, ReasoningPart, ToolCallPart } from '../../canonical/content.ts'
import type { Path } from '../../canonical/loss.ts'
import type { Json, JsonObject, Node } from '../../canonical/node.ts'
import type { Message } from '../../canonical/request.ts'
import { spelt } from '../fields.ts'
import { contentOf, FORMAT, type WriteContext, writePart } from './content.ts'
import {
  FOREIGN_THOUGHT,
  ownStamp,
  type Stamp,
  withoutId,
  writeCall,
  writeMessageItem,
  writeReasoningItem,
} from './items.ts'

/** An assistant's turn: thoughts and calls are separate items, neighbouring texts and refusals are one message. */
export function writeTurn(message: Message, path: Path, context: WriteContext): readonly JsonObject[] {
  if (message.extras?.[FORMAT] !== undefined) context.losses.drop([...path, 'extras', FORMAT], 'no-place-for-it')
  const turn = new Turn(context)
  for (const [index, part] of message.content.entries()) turn.put(part, [...path, 'content', index])
  return turn.written()
}

class Turn {
  private readonly items: JsonObject[] = []
  private openMessage: { readonly first: Node; readonly parts: JsonObject[] } | undefined
  private readonly context: WriteContext
  private readonly stamp: Stamp

  constructor(context: WriteContext) {
    this.context = context
    this.stamp = context.native ? ownStamp : withoutId
  }

  put(part: Part, path: Path): void {
    switch (part.type) {
      case 'reasoning':
        return this.item(this.reasoning(part, path))
      case 'tool-call':
        return this.item(this.call(part, path))
      case 'opaque':
        if (part.format === FORMAT && spelt(part, FORMAT)['in'] === undefined) return this.item(part.value)
        return this.addToMessage(part, path)
      case 'media':
        if (!this.context.native) return this.context.losses.drop(path, 'no-media-from-assistants')
        return this.addToMessage(part, path)
      default:
        return this.addToMessage(part, path)
    }
  }

  written(): readonly JsonObject[] {
    this.close()
    return this.items
  }

  private item(wire: JsonObject | undefined): void {
    if (wire === undefined) return
    this.close()
    this.items.push(wire)
  }

  private addToMessage(part: Part, path: Path): void {
    const { native } = this.context
    const opens = native && spelt(part, FORMAT)['message'] !== undefined
    if (!native && isEmptyText(part)) return
    const wire = writePart(part, 'output_text', path, this.context)
    if (wire === undefined) return
    if (opens) this.close()
    this.openMessage ??= { first: part, parts: [] }
    this.openMessage.parts.push(wire)
  }

  private close(): void {
    if (this.openMessage === undefined) return
    const { first, parts } = this.openMessage
    this.openMessage = undefined
    this.items.push(writeMessageItem(first, messageContent(first, parts, this.context.native), this.stamp))
  }

  private call(part: ToolCallPart, path: Path): JsonObject {
    if (part.cache !== undefined) this.context.losses.drop([...path, 'cache'], 'no-cache-markers-here')
    return writeCall(part, this.stamp)
  }

  /** Only thoughts with this format's own proof are returned to its upstreams (trap 30), which refuse all others. */
  private reasoning(part: ReasoningPart, path: Path): JsonObject | undefined {
    const { native, losses } = this.context
    const { signature, redacted, cache } = part
    const proof = signature?.format === FORMAT ? signature.value : undefined
    if (proof === undefined && (!native || isForeign(part))) {
      losses.drop(path, 'no-reasoning-of-others')
      return undefined
    }
    if (redacted !== undefined) losses.hide([...path, 'redacted'], 'told-by-the-proof')
    if (cache !== undefined) losses.drop([...path, 'cache'], 'no-cache-markers-here')
    return writeReasoningItem(part, this.stamp, proof)
  }
}

const isForeign = ({ signature, ...part }: ReasoningPart): boolean => {
  const { id, enclosed } = spelt(part, FORMAT)
  return signature !== undefined || enclosed === true || (typeof id === 'string' && id.startsWith(FOREIGN_THOUGHT))
}

const isEmptyText = (part: Part): boolean =>
  ((part.type === 'text' && part.annotations === undefined) || part.type === 'refusal') &&
  part.text === '' &&
  part.cache === undefined &&
  part.extras?.[FORMAT] === undefined

function messageContent(first: Node, parts: readonly JsonObject[], native: boolean): Json | undefined {
  const own = (spelt(first, FORMAT)['message'] as JsonObject | undefined) ?? {}
  if (native && own['silent'] === true) return []
  if (native && own['content'] === 'absent') return undefined
  return contentOf(parts, own['content'], native)
}

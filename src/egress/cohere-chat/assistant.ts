import type { Part, ReasoningPart, ToolCallPart } from '../../canonical/content.ts'
import { Losses, type Path, type Unwritten } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { Message } from '../../canonical/request.ts'
import { type LocatedPart, partsOfRun, reportRunOrder } from '../assistant-run.ts'
import { around, extrasFor, spellingFor } from '../fields.ts'
import { contentOf, writePart } from './content.ts'
import { FORMAT, reportName, type WriteContext } from './context.ts'

/** Fields of an assistant turn, ranked in the order in which readers read them. */
const FIELD_ORDER = { content: 0, plan: 1, calls: 2 } as const
type Field = keyof typeof FIELD_ORDER

interface PlacedPart extends LocatedPart {
  readonly field: Field
}

/** Writes an assistant turn. Content, plan and calls have separate fields, and readers read them in this order. */
export function writeAssistant(message: Message, path: Path, context: WriteContext): JsonObject {
  const parts = placedParts(message.content.map((part, index) => ({ part, path: [...path, 'content', index] })))
  const ranks = parts.map(rankOf)
  const order = [...ranks.keys()].sort((a, b) => ranks[a]! - ranks[b]! || a - b)
  context.losses.reorder([...path, 'content'], order, ranks.length, 'fields-have-an-order')
  const turn = new Turn(message, context)
  for (const one of parts) turn.addPart(one)
  reportName(message, path, context)
  return turn.written()
}

/** Writes the assistant turns at the indexes in `run` as one message. */
export function writeAssistantRun(
  messages: readonly Message[],
  run: readonly number[],
  context: WriteContext,
): JsonObject {
  const losses = new Losses()
  const turn = new Turn(messages[run[0]!]!, { ...context, losses })
  const parts = placedParts(partsOfRun(messages, run))
  for (const one of parts) turn.addPart(one)
  context.losses.report(losses.list)
  reportRunOrder(parts, losses.list, rankOf, { format: FORMAT, losses: context.losses })
  for (const index of run) reportName(messages[index]!, ['messages', index], context)
  return turn.written()
}

const rankOf = ({ field }: PlacedPart): number => FIELD_ORDER[field]

/**
 * Chooses the field of each part. If a turn with calls has only one text, and it precedes the calls, it is the plan
 * (docs/wire/cohere-chat.md#plans).
 */
function placedParts(parts: readonly LocatedPart[]): readonly PlacedPart[] {
  const call = parts.findIndex(({ part }) => isCall(part))
  const otherParts = parts.filter(({ part }) => !isCall(part) && part.type !== 'reasoning')
  const plan =
    otherParts.length === 1 && parts.indexOf(otherParts[0]!) < call && isPlanText(otherParts[0]!.part)
      ? otherParts[0]
      : undefined
  return parts.map(one => ({ ...one, field: isCall(one.part) ? 'calls' : one === plan ? 'plan' : 'content' }))
}

const isCall = (part: Part): boolean =>
  part.type === 'tool-call' || (part.type === 'opaque' && spellingFor(part, FORMAT)['call'] === true)

const isPlanText = (part: Part): boolean =>
  part.type === 'text' && part.text !== '' && Object.keys(extrasFor(part, FORMAT)).length === 0

/** Losses of a call in the history. */
const CALL_LOSSES: Unwritten<ToolCallPart, 'type' | 'id' | 'name' | 'arguments' | 'freeform' | 'namespace'> = {
  cache: 'no-cache-markers',
}
const REASONING_LOSSES: Unwritten<ReasoningPart, 'type' | 'text' | 'redacted' | 'continues'> = {
  signature: 'no-signatures',
  cache: 'no-cache-markers',
}

/** A block of reasoning, and the path of its first part. */
interface ThinkingBlock {
  readonly path: Path
  readonly wire: JsonObject
}

/** Collects the parts of an assistant turn by field, then writes the message. */
class Turn {
  private readonly content: JsonObject[] = []
  private readonly calls: JsonObject[] = []
  private plan: string | undefined
  /** The most recently written reasoning. */
  private lastThinking: ThinkingBlock | undefined
  private readonly message: Message
  private readonly context: WriteContext

  constructor(message: Message, context: WriteContext) {
    this.message = message
    this.context = context
  }

  addPart({ part, path, field }: PlacedPart): void {
    if (part.type === 'tool-call') this.call(part, path)
    else if (field === 'calls') this.calls.push((part as Part & { type: 'opaque' }).value)
    else if (part.type === 'reasoning') this.reasoning(part, path)
    else if (part.type === 'media') this.context.losses.drop(path, 'no-media-from-assistants')
    else this.addContent(part, path, field)
  }

  private addContent(part: Part, path: Path, field: Field): void {
    const wire = writePart(part, path, this.context)
    if (wire === undefined) return
    if (field === 'plan') this.plan = wire['text'] as string
    else this.content.push(wire)
  }

  private reasoning(part: ReasoningPart, path: Path): void {
    const { dialect, losses } = this.context
    if (dialect.thinks !== true) return losses.drop(path, 'no-reasoning-in-history')
    if (part.redacted || (part.text === '' && part.signature !== undefined))
      return losses.drop(path, 'no-hidden-reasoning')
    losses.dropFields(part, path, REASONING_LOSSES)
    const { lastThinking: last } = this
    if (part.continues === undefined || last === undefined || this.content.at(-1) !== last.wire) {
      if (part.continues === true) losses.dropRestored([...path, 'continues'], 'nothing-to-continue')
      const wire = { type: 'thinking', thinking: part.text, ...extrasFor(part, FORMAT) }
      this.lastThinking = { path, wire }
      this.content.push(wire)
    } else this.continue(last, part, path)
  }

  /** Appends a chunk of reasoning to the previous block, because clients store the chunks of a stream separately. */
  private continue(last: ThinkingBlock, part: ReasoningPart, path: Path): void {
    const { losses } = this.context
    const thinking = `${last.wire['thinking']}${part.text}`
    losses.drop(path, 'joined-with-the-one-before')
    losses.change([...last.path, 'text'], thinking, 'joined-with-the-next')
    this.lastThinking = { path: last.path, wire: { ...last.wire, thinking } }
    this.content[this.content.length - 1] = this.lastThinking.wire
  }

  private call(part: ToolCallPart, path: Path): void {
    this.context.losses.dropFields(part, path, CALL_LOSSES)
    const { id, name } = part
    const inner = { name, arguments: part.arguments === '' ? '{}' : part.arguments }
    this.calls.push({ id, ...around(FORMAT, part, 'function', inner) })
  }

  written(): JsonObject {
    const content = contentOf(this.content)
    return {
      role: 'assistant',
      ...(content === '' && this.calls.length > 0 ? {} : { content }),
      ...(this.plan === undefined ? {} : { tool_plan: this.plan }),
      ...(this.calls.length === 0 ? {} : { tool_calls: this.calls }),
      ...extrasFor(this.message, FORMAT),
    }
  }
}

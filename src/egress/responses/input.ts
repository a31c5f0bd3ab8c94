import type { Part, ReasoningPart, ToolCallPart, ToolResultPart } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import { type JsonObject, unchangedWire } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import { defined, extrasFor, spellingFor } from '../fields.ts'
import type { SearchPart } from '../searches.ts'
import { SYSTEM_PARTS, USER_PARTS, withFailure, withMarker, writeAllowed } from '../turns.ts'
import { contentOf, FORMAT, type WriteContext, writePart } from './content.ts'
import { fillReasoning, originalItem, type Stamp, writeCall, writeMessageItem, writeReasoningItem } from './items.ts'
import { belongsTo, reportSearch, writeSearch } from './search.ts'
import { isToolSearch, takesOpenaiSearches } from './search-access.ts'
import { neverReasons } from './settings.ts'

/** Writes `instructions` and `input`: a leading system text becomes `instructions`, everything else becomes items. */
export function writeHistory(request: CanonicalRequest, context: WriteContext): JsonObject {
  const { messages } = request
  const instructions = instructionsOf(messages)
  const reasoning = new Map<JsonObject, Path>()
  const input = messages.flatMap((message, index) => {
    const path: Path = ['messages', index]
    if (message.name !== undefined) context.losses.drop([...path, 'name'], 'no-speaker-names')
    return index === 0 && instructions !== undefined ? [] : writeMessage(message, path, { ...context, reasoning })
  })
  return { ...defined({ instructions }), input: withoutLastReasoning(input, reasoning, context.losses) }
}

/**
 * Drops reasoning behind which nothing of the same turn follows, as that of an answer that was cut while the model
 * thought. OpenAI refuses it (docs/wire/responses.md#input-items).
 *
 * @param reasoning the items with reasoning, and the parts that they were written from.
 */
export function withoutLastReasoning(
  items: readonly JsonObject[],
  reasoning: ReadonlyMap<JsonObject, Path>,
  losses: Losses,
): readonly JsonObject[] {
  if (reasoning.size === 0) return items
  let isFollowed = false
  const kept = items.toReversed().filter(item => {
    const path = reasoning.get(item)
    if (path === undefined) isFollowed = isOfModel(item)
    else if (!isFollowed) losses.drop(path, 'nothing-behind-the-reasoning')
    return path === undefined || isFollowed
  })
  return kept.length === items.length ? items : kept.reverse()
}

/** Returns true for an item that belongs to a turn of the model. */
const isOfModel = ({ type, role }: JsonObject): boolean =>
  role == null ? !String(type).endsWith('_output') : role === 'assistant'

/**
 * Returns the text of a leading system turn, if it is a single plain text part. The only message of a request stays in
 * `input`, because upstreams refuse an empty `input`.
 */
function instructionsOf(messages: readonly Message[]): string | undefined {
  const [first] = messages
  if (first?.role !== 'system' || messages.length === 1) return undefined
  const [part, ...others] = first.content
  if (part?.type !== 'text' || others.length > 0) return undefined
  const plain = part.cache === undefined && part.annotations === undefined && part.extras?.[FORMAT] === undefined
  return plain && first.extras?.[FORMAT] === undefined && part.text !== '' ? part.text : undefined
}

/** Writes a message as items. */
export function writeMessage(message: Message, path: Path, context: WriteContext): readonly JsonObject[] {
  if (message.role === 'assistant') return writeTurn(message, path, context)
  if (message.role === 'tool') return writeResults(message, path, context)
  const allowed = message.role === 'user' ? USER_PARTS : SYSTEM_PARTS
  const parts = writeParts(message.content, [...path, 'content'], context, allowed)
  if (parts.length === 0 && message.extras === undefined) return []
  return [{ type: 'message', role: message.role, content: contentOf(parts), ...extrasFor(message, FORMAT) }]
}

function writeParts(
  content: readonly Part[],
  path: Path,
  context: WriteContext,
  allowed: ReadonlySet<Part['type']>,
): readonly JsonObject[] {
  return writeAllowed(content, allowed, path, context.losses, (part, at) => writePart(part, 'input_text', at, context))
}

/** Writes each tool result as a separate item. */
function writeResults(message: Message, path: Path, context: WriteContext): readonly JsonObject[] {
  if (message.extras?.[FORMAT] !== undefined) context.losses.drop([...path, 'extras', FORMAT], 'no-equivalent-field')
  return message.content.flatMap((part, index) => {
    const at = [...path, 'content', index]
    if (part.type === 'tool-result') return [writeResult(part, at, context)]
    context.losses.drop(at, 'not-in-this-turn')
    return []
  })
}

function writeResult(result: ToolResultPart, path: Path, context: WriteContext): JsonObject {
  const { dialect, losses } = context
  const marked = withMarker(result, dialect.cache === 'prompt_cache_breakpoint', path, losses)
  const parts = writeParts(withFailure(marked, path, losses), [...path, 'content'], context, USER_PARTS)
  return {
    type: result.freeform ? 'custom_tool_call_output' : 'function_call_output',
    call_id: result.id,
    output: contentOf(parts),
    ...extrasFor(result, FORMAT),
  }
}

/**
 * Writes an assistant turn. Reasoning, calls and searches become separate items. Adjacent texts and refusals share a
 * message.
 */
function writeTurn(message: Message, path: Path, context: WriteContext): readonly JsonObject[] {
  if (message.extras?.[FORMAT] !== undefined) context.losses.drop([...path, 'extras', FORMAT], 'no-equivalent-field')
  const turn = new Turn(context)
  for (const [index, part] of message.content.entries()) turn.addPart(part, [...path, 'content', index])
  return turn.written()
}

/** Id that readers give to a search in the history, whose item has no id of its own (trap 34). */
const NO_ID = ''
const COMPLETED: Stamp = { status: 'completed' }

/** Collects the items of an assistant turn. */
class Turn {
  private readonly items: JsonObject[] = []
  private message: JsonObject[] = []
  /** The search, if it is the last item. */
  private search: SearchPart | undefined
  private readonly context: WriteContext

  constructor(context: WriteContext) {
    this.context = context
  }

  addPart(part: Part, path: Path): void {
    switch (part.type) {
      case 'reasoning':
        return this.reasoning(part, path)
      case 'tool-call':
        return this.item(this.call(part, path))
      case 'search-call':
      case 'search-result':
        return this.addSearch(part, path)
      case 'opaque':
        if (part.format !== FORMAT || spellingFor(part, FORMAT)['in'] !== undefined)
          return this.addToMessage(part, path)
        if (isToolSearch(part) && !takesOpenaiSearches(this.context.dialect))
          return this.context.losses.drop(path, 'no-search-of-tools')
        return this.item(part.value)
      case 'media':
        return this.item(
          unchangedWire<JsonObject>(part, FORMAT) ?? this.context.losses.drop(path, 'no-media-from-assistants'),
        )
      default:
        return this.addToMessage(part, path)
    }
  }

  private reasoning(part: ReasoningPart, path: Path): void {
    const wire = writeSignedReasoning(part, path, this.context)
    if (wire !== undefined) this.context.reasoning?.set(wire, path)
    this.item(wire)
  }

  written(): readonly JsonObject[] {
    this.close()
    return this.items
  }

  private item(wire: JsonObject | undefined): void {
    if (wire === undefined) return
    this.close()
    this.items.push(wire)
    this.search = undefined
  }

  /** Adds results to their search's item. Anything else becomes a separate item. */
  private addSearch(part: SearchPart, path: Path): void {
    reportSearch(part, NO_ID, path, this.context.losses)
    const { search } = this
    if (this.message.length === 0 && search !== undefined && belongsTo(part, search)) {
      this.items[this.items.length - 1] = writeSearch(search, part, COMPLETED)
      this.search = undefined
    } else {
      this.item(writeSearch(part, undefined, COMPLETED))
      this.search = part
    }
  }

  private addToMessage(part: Part, path: Path): void {
    if (isEmptyText(part)) return
    const wire = writePart(part, 'output_text', path, this.context)
    if (wire === undefined) return
    this.message.push(wire)
  }

  private close(): void {
    if (this.message.length === 0) return
    this.items.push(writeMessageItem(contentOf(this.message)))
    this.message = []
  }

  private call(part: ToolCallPart, path: Path): JsonObject {
    if (part.cache !== undefined) this.context.losses.drop([...path, 'cache'], 'no-cache-markers-here')
    return writeCall(part)
  }
}

/**
 * Writes reasoning that an upstream of this format signed (trap 30). All other reasoning is dropped, because upstreams
 * refuse it.
 */
export function writeSignedReasoning(
  part: ReasoningPart,
  path: Path,
  { dialect, losses }: WriteContext,
): JsonObject | undefined {
  const { signature, redacted, cache } = part
  if (signature?.format !== FORMAT) return losses.drop(path, 'no-reasoning-of-others')
  if (neverReasons(dialect)) return losses.drop(path, 'no-thinking')
  if (redacted !== undefined) losses.dropRestored([...path, 'redacted'], 'implied-by-the-proof')
  if (cache !== undefined) losses.drop([...path, 'cache'], 'no-cache-markers-here')
  const original = originalItem(part)
  if (original?.whole !== true) return writeReasoningItem(part, signature.value)
  const { id: _, status: __, ...item } = fillReasoning(original.item, part, signature.value)
  return item
}

const isEmptyText = (part: Part): boolean =>
  ((part.type === 'text' && part.annotations === undefined) || part.type === 'refusal') &&
  part.text === '' &&
  part.cache === undefined &&
  part.extras?.[FORMAT] === undefined

import type { Part, TextPart, ToolResultPart } from '../../canonical/content.ts'
import type { Path } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import { defined, kept, spelt } from '../fields.ts'
import { contentOf, FORMAT, type WriteContext, writePart } from './content.ts'
import { writeTurn } from './history.ts'
import { ownStamp, withoutId } from './items.ts'

/** `instructions` and `input`: a leading system text, and everything else as items. */
export function writeHistory(request: CanonicalRequest, context: WriteContext): JsonObject {
  const { messages } = request
  const instructions = instructionsOf(messages, context)
  const items: JsonObject[] = []
  messages.forEach((message, index) => {
    const path: Path = ['messages', index]
    if (message.name !== undefined) context.losses.drop([...path, 'name'], 'no-names-of-speakers')
    if (index > 0 || instructions === undefined)
      for (const item of writeMessage(message, path, context)) items.push(item)
  })
  return { ...defined({ instructions }), ...inputOf(items, spelt(request, FORMAT)['input'], context) }
}

function inputOf(items: readonly JsonObject[], spelling: Json | undefined, { native }: WriteContext): JsonObject {
  if (!native) return { input: items }
  if (spelling === 'absent' && items.length === 0) return {}
  const [item] = items
  if (items.length !== 1 || item === undefined) return { input: items }
  if (spelling === 'object') return { input: item }
  const content = item['content']
  return { input: spelling === 'string' && typeof content === 'string' ? content : items }
}

/**
 * A native caller's own instructions; for other formats a leading system turn that is a single plain text, unless it is
 * the only message: empty input is refused.
 */
function instructionsOf(messages: readonly Message[], { native }: WriteContext): string | undefined {
  const [first] = messages
  if (first?.role !== 'system' || (!native && messages.length === 1)) return undefined
  const [part, ...others] = first.content
  if (part?.type !== 'text' || others.length > 0) return undefined
  if (native) return spelt(first, FORMAT)['as'] === 'instructions' ? part.text : undefined
  const plain = part.cache === undefined && part.annotations === undefined && part.extras?.[FORMAT] === undefined
  return plain && first.extras?.[FORMAT] === undefined && part.text !== '' ? part.text : undefined
}

function writeMessage(message: Message, path: Path, context: WriteContext): readonly JsonObject[] {
  if (message.role === 'assistant') return writeTurn(message, path, context)
  if (message.role === 'tool') return writeResults(message, path, context)
  return writeInputMessage(message, path, context)
}

const FOR_USERS: ReadonlySet<Part['type']> = new Set(['text', 'media', 'opaque'])
const FOR_SYSTEMS: ReadonlySet<Part['type']> = new Set(['text', 'opaque'])

function writeInputMessage(message: Message, path: Path, context: WriteContext): readonly JsonObject[] {
  const { native } = context
  const item = native ? itemIn(message) : undefined
  if (item !== undefined) return [item]
  const own = spelt(message, FORMAT)
  const allowed = message.role === 'user' ? FOR_USERS : FOR_SYSTEMS
  const parts = writeParts(message.content, [...path, 'content'], context, allowed)
  const extras = kept(message, FORMAT)
  if (!native && parts.length === 0 && message.extras === undefined) return []
  const content = native && own['content'] === 'absent' ? undefined : contentOf(parts, contentSpelling(own), native)
  return [
    {
      ...(native && own['type'] === 'absent' ? {} : { type: 'message' }),
      ...(native ? ownStamp(own, 'msg') : {}),
      role: message.role,
      ...(content === undefined ? {} : { content }),
      ...extras,
    },
  ]
}

/** The item that a message was read from, where it was not a message item. */
function itemIn({ content: [part] }: Message): JsonObject | undefined {
  const is = part?.type === 'opaque' && part.format === FORMAT && spelt(part, FORMAT)['in'] === undefined
  return is ? part.value : undefined
}

/** A message that was read from a bare string has no spelling. */
const contentSpelling = (own: JsonObject): Json | undefined => (own['id'] === undefined ? 'string' : own['content'])

function writeParts(
  content: readonly Part[],
  path: Path,
  context: WriteContext,
  allowed: ReadonlySet<Part['type']>,
): readonly JsonObject[] {
  return content.flatMap((part, index) => {
    const at = [...path, index]
    if (!context.native && !allowed.has(part.type)) {
      context.losses.drop(at, 'not-in-this-turn')
      return []
    }
    const wire = writePart(part, 'input_text', at, context)
    return wire === undefined ? [] : [wire]
  })
}

/** Each result of a tool is an item. */
function writeResults(message: Message, path: Path, context: WriteContext): readonly JsonObject[] {
  if (message.extras?.[FORMAT] !== undefined) context.losses.drop([...path, 'extras', FORMAT], 'no-place-for-it')
  return message.content.flatMap((part, index) => {
    const at = [...path, 'content', index]
    if (part.type === 'tool-result') return [writeResult(part, at, context)]
    context.losses.drop(at, 'not-in-this-turn')
    return []
  })
}

function writeResult(result: ToolResultPart, path: Path, context: WriteContext): JsonObject {
  const { native, losses } = context
  const own = spelt(result, FORMAT)
  if (result.cache !== undefined) losses.drop([...path, 'cache'], 'no-cache-markers-here')
  const content = native ? result.content : withFailure(result, path, context)
  const parts = writeParts(content, [...path, 'content'], context, FOR_USERS)
  const output = native && own['output'] === 'absent' ? undefined : contentOf(parts, own['output'], native)
  return {
    type: result.freeform ? 'custom_tool_call_output' : 'function_call_output',
    ...(native ? ownStamp(own, '') : withoutId(own, '')),
    ...(native && own['call'] !== undefined ? {} : { call_id: result.id }),
    ...(native ? defined({ name: result.name }) : {}),
    ...(output === undefined ? {} : { output }),
    ...kept(result, FORMAT),
  }
}

/** There is no flag for a failed call, so the text contains it (trap 49). */
function withFailure(result: ToolResultPart, path: Path, { losses }: WriteContext): readonly Part[] {
  const { content } = result
  if (result.failed === undefined) return content
  losses.drop([...path, 'failed'], 'no-failure-flag')
  const index = content.findIndex(part => part.type === 'text')
  if (index === -1) {
    const notice: Part = { type: 'text', text: 'The call failed.' }
    losses.insert([...path, 'content', content.length], notice, 'failure-said-in-words')
    return [...content, notice]
  }
  const part = content[index] as TextPart
  const text = `Error: ${part.text}`
  losses.change([...path, 'content', index, 'text'], text, 'failure-said-in-words')
  return content.with(index, { ...part, text })
}

import type { Part } from '../../canonical/content.ts'
import type { Path } from '../../canonical/loss.ts'
import { isObject, type JsonObject, wireSourceOf } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import { type Locate, locator, type MessagePaths } from '../locate.ts'
import { FORMAT } from './wire.ts'

/**
 * Locates messages and their parts. Content may be a single string. Reasoning, calls and audio have separate fields.
 */
export const locate = ({ messages }: CanonicalRequest): Locate =>
  locator('messages', messages.map(pathsOf), ['messages', messages.length])

function pathsOf(message: Message, index: number): MessagePaths {
  const at: Path = ['messages', index]
  const wire = wireSourceOf<JsonObject>(message, FORMAT)?.wire ?? {}
  if (message.role === 'tool') return { at, parts: [at] }
  const content = wire['content'] ?? undefined
  const list = Array.isArray(content) ? content : content === undefined ? [] : [content]
  const leadingReasoning = leadingCount(message.content, 'reasoning') - leadingCount(list, 'thinking')
  let calls = 0
  let images = 0
  return {
    at,
    parts: message.content.map((part, index): Path => {
      const position = index - leadingReasoning
      if (position >= 0 && position < list.length)
        return Array.isArray(content) ? [...at, 'content', position] : [...at, 'content']
      const field = fieldOf(part, wire)
      if (field === undefined) return at
      if (field === 'images') return [...at, field, images++]
      return field === 'tool_calls' ? [...at, field, calls++] : [...at, field]
    }),
  }
}

/** Returns the number of parts of the type before the first part of another type. */
function leadingCount(parts: readonly unknown[], type: string): number {
  const other = parts.findIndex(part => !isObject(part) || part['type'] !== type)
  return other === -1 ? parts.length : other
}

/** Returns the message field that holds a part outside the content. */
function fieldOf(part: Part, wire: JsonObject): string | undefined {
  const { type } = part
  if (type === 'tool-call') return Array.isArray(wire['tool_calls']) ? 'tool_calls' : 'function_call'
  if (type === 'reasoning') return REASONING_FIELDS.find(name => wire[name] != null && wire[name] !== '')
  if (type === 'refusal') return 'refusal'
  if (part.type !== 'media') return undefined
  return part.kind === 'audio' && isObject(wire['audio'])
    ? 'audio'
    : Array.isArray(wire['images'])
      ? 'images'
      : undefined
}

const REASONING_FIELDS = ['reasoning_details', 'reasoning_content', 'reasoning']

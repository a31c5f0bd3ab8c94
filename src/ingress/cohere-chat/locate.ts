import type { Part } from '../../canonical/content.ts'
import type { Path } from '../../canonical/loss.ts'
import { type JsonObject, wireSourceOf } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import { SETTINGS } from '../../formats/settings/cohere-chat.ts'
import { type BodyFields, fieldsOfSettings } from '../body-fields.ts'
import { type Locate, locator, type MessagePaths } from '../locate.ts'
import { FORMAT } from './wire.ts'

/** Locates messages and their parts in the body. Documents, plans and calls have separate fields. */
export function locate({ messages }: CanonicalRequest): Locate {
  let index = 0
  const paths = messages.map((message): MessagePaths => {
    if (message.spelling?.[FORMAT]?.['beside'] === true)
      return { at: ['documents'], parts: message.content.map((_, part): Path => ['documents', part]) }
    return pathsOf(message, ['messages', index++])
  })
  return locator('messages', paths, ['messages', index])
}

function pathsOf(message: Message, at: Path): MessagePaths {
  if (message.role === 'tool') return { at, parts: [at] }
  const wire = wireSourceOf<JsonObject>(message, FORMAT)?.wire ?? {}
  const isList = Array.isArray(wire['content'])
  let calls = 0
  return {
    at,
    parts: message.content.map((part, index): Path => {
      if (isCall(part)) return [...at, 'tool_calls', calls++]
      if (part.spelling?.[FORMAT]?.['plan'] === true) return [...at, 'tool_plan']
      return isList ? [...at, 'content', index] : [...at, 'content']
    }),
  }
}

const isCall = (part: Part): boolean =>
  part.type === 'tool-call' || (part.type === 'opaque' && part.spelling?.[FORMAT]?.['call'] === true)

/** The body fields of the request's settings. */
export const BODY_FIELDS: BodyFields = {
  ...fieldsOfSettings(SETTINGS),
  'sampling/stop': ['stop_sequences'],
  'sampling/logprobs': ['logprobs'],
  'output/text': ['response_format'],
  reasoning: ['thinking'],
  'reasoning/effort': ['thinking/type'],
  'reasoning/budget': ['thinking/token_budget', 'thinking/type'],
  tools: ['tools'],
  toolChoice: ['tool_choice'],
  'toolChoice/extras/tool_choice': ['tool_choice'],
  stream: ['stream'],
}

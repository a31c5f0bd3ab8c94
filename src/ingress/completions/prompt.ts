import type { Json, JsonObject } from '../../canonical/node.ts'
import type { Message } from '../../canonical/request.ts'
import { list, required, text, WrongType } from '../fields.ts'

export const FORMAT = 'completions'

/** Prompts, a message each, and how they were written where one message is not one text. */
interface Prompts {
  readonly messages: readonly Message[]
  /** `list`: one prompt written as a list of one. */
  readonly spelt: 'list' | undefined
}

/** `prompt` in its four forms (FORMATS §3); null is an empty prompt. */
export function readPrompt(wire: Json | undefined): Prompts {
  if (wire === null) return { messages: [], spelt: undefined }
  if (typeof wire === 'string') return { messages: [textMessage(wire)], spelt: undefined }
  const entries = required(list(wire))
  if (entries.length > 0 && entries.every(entry => typeof entry === 'number'))
    return { messages: [tokensMessage(entries)], spelt: undefined }
  const messages = entries.map(entry =>
    Array.isArray(entry) ? tokensMessage(numbers(entry)) : textMessage(required(text(entry))),
  )
  return { messages, spelt: messages.length === 1 ? 'list' : undefined }
}

const textMessage = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })

/** Tokens have a meaning for one model alone: an upstream that cannot take them cannot take the request. */
function tokensMessage(tokens: readonly Json[]): Message {
  const value: JsonObject = { tokens }
  return { role: 'user', content: [{ type: 'opaque', format: FORMAT, value, reference: true }] }
}

function numbers(entries: readonly Json[]): readonly number[] {
  if (entries.some(entry => typeof entry !== 'number')) throw WrongType.instance
  return entries as readonly number[]
}

import type { ReasoningPart } from '../../canonical/content.ts'
import { append } from '../../canonical/lists.ts'
import { Losses, type Written } from '../../canonical/loss.ts'
import { type Json, type JsonObject, type Origin, originOf } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { spelt } from '../fields.ts'
import type { ReadRequest } from '../own.ts'
import { ownBodyOf } from '../stream-options.ts'
import type { HandBack } from '../writer.ts'
import { signatureExtra } from './answer.ts'
import { CUT, thinkingPart } from './assistant.ts'
import { FORMAT, type WriteContext } from './content.ts'
import { type ChatDialect, chatDialect } from './dialect.ts'
import { answerTools, withLegalIds, writeMessages } from './messages.ts'

export const PATH = '/chat/completions'

/**
 * Passes on a request of this format as received, except for the gateway's changes and for what the dialect rules out.
 */
export function writeOwnRequest(
  request: CanonicalRequest,
  origin: ReadRequest,
  dialect: ChatDialect,
): Written<WireRequest> {
  const losses = new Losses()
  const messages = ownMessages(request, origin.node, { dialect, losses })
  const body = ownBodyOf(request, origin, dialect.include_usage === true, messages === undefined ? {} : { messages })
  return { wire: { path: PATH, query: {}, headers: {}, body }, losses: losses.list }
}

/** The roles whose messages the gateway changes only in call ids and reasoning. */
const CHANGED: ReadonlySet<Message['role']> = new Set(['assistant', 'tool'])

/** Writes the messages, rewriting the changed ones; undefined if none has changed. */
function ownMessages(request: CanonicalRequest, read: CanonicalRequest, context: WriteContext): Json | undefined {
  const messages = withLegalIds(request.messages, context)
  const isChanged = messages.length !== read.messages.length || messages.some((one, at) => one !== read.messages[at])
  if (!isChanged && context.dialect.after_tools !== 'assistant') return undefined
  const wire: JsonObject[] = []
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'tool' && message.role !== 'assistant') answerTools(index, wire, context)
    const origin = originOf<JsonObject, Message>(message, FORMAT)
    if (origin?.node === message) wire.push(origin.wire)
    else if (origin === undefined || !CHANGED.has(message.role)) append(wire, writeMessages([message], context))
    else wire.push(ownTurn(message, origin))
  }
  return wire
}

/** Writes a message with other call ids or with restored reasoning; the rest stays unchanged. */
function ownTurn({ role, content }: Message, { node, wire }: Origin<Message, JsonObject>): JsonObject {
  const [first] = content
  if (role === 'tool' && first?.type === 'tool-result')
    return wire['role'] === 'tool' ? { ...wire, tool_call_id: first.id } : wire
  const known = new Set(node.content)
  const thoughts: ReasoningPart[] = []
  const calls: JsonObject[] = []
  let signed: JsonObject = {}
  for (const part of content)
    if (part.type === 'tool-call') {
      const call = originOf<JsonObject, typeof part>(part, FORMAT)
      if (call !== undefined)
        calls.push({ ...call.wire, ...(part.id === call.node.id ? {} : { id: part.id }), ...signed })
      signed = {}
    } else if (part.type === 'reasoning' && !known.has(part)) {
      if (part.signature === undefined) thoughts.push(part)
      else signed = signatureExtra(part.signature.value)
    }
  return { ...wire, ...thoughtsOf(thoughts, wire['content']), ...(calls.length === 0 ? {} : { tool_calls: calls }) }
}

/** Writes restored reasoning to the field that the upstream reads. */
function thoughtsOf(thoughts: readonly ReasoningPart[], content: Json | undefined): JsonObject {
  if (thoughts.length === 0) return {}
  const { field, value } = spelt(thoughts[0], FORMAT)
  if (value === undefined) return { [field as string]: thoughts.map(({ text }) => text).join(CUT) }
  const parts = thoughts.map(thought => spelt(thought, FORMAT)['value']!)
  if (Array.isArray(content)) return { content: [...parts, ...content] }
  return { content: content ? [...parts, { type: 'text', text: content }] : parts }
}

/**
 * Returns reasoning to the upstream in the field that the dialect declares, whichever model generated it, because
 * reasoning is unsigned here (traps 35, 36). Google's signature of a call is returned only to Google, in place of the
 * caller's (trap 31).
 */
export function handsBack(thought: ReasoningPart, { dialect, native, own }: HandBack): ReasoningPart | undefined {
  const { text, signature, redacted } = thought
  if (text === '' && signature?.format === 'contents')
    return native && own ? { type: 'reasoning', text, signature } : undefined
  const field = chatDialect(dialect).reasoning_field ?? 'none'
  if (field === 'none' || redacted || (text === '' && !own)) return undefined
  if (!native) return { type: 'reasoning', text }
  const value = spelt(thought, FORMAT)['value'] ?? thinkingPart(text)
  return { type: 'reasoning', text, spelling: { [FORMAT]: field === 'parts' ? { value } : { field } } }
}

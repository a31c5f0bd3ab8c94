import { argumentsOf, type CallFacts, type ReasoningFacts } from '../../facts.ts'
import { compact, type JsonObject, listOf, objectOf, textOf } from '../../json.ts'

/* Items that requests and answers share. Source: docs/wire/responses.md#input-items */

/** Types of items that call a tool of the caller. */
export const CALLS: ReadonlySet<string> = new Set(['function_call', 'custom_tool_call'])

/** Types of items that contain the result of such a call. */
export const RESULTS: ReadonlySet<string> = new Set(['function_call_output', 'custom_tool_call_output'])

export const callFacts = ({ type, call_id, name, arguments: args, input }: JsonObject): CallFacts => ({
  ...compact({ id: textOf(call_id), name: textOf(name) }),
  arguments: type === 'custom_tool_call' ? (input ?? '') : argumentsOf(textOf(args) ?? ''),
})

const texts = (parts: unknown): string =>
  listOf(parts)
    .map(part => textOf(objectOf(part)['text']) ?? '')
    .join('')

/**
 * Returns the facts of a reasoning item: its text, or else its summary, and the encrypted content that the caller must
 * send back.
 */
export const reasoningFacts = ({ content, summary, encrypted_content }: JsonObject): ReasoningFacts =>
  compact({
    text: texts(content) || texts(summary) || undefined,
    signature: textOf(encrypted_content) || undefined,
  }) as ReasoningFacts

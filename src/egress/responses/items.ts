import type { Part, ReasoningPart, ToolCallPart } from '../../canonical/content.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { wrapReasoning } from '../../canonical/signature.ts'
import { defined, extrasFor, spellingFor } from '../fields.ts'
import type { ReasoningTarget } from '../writer.ts'
import { FORMAT } from './content.ts'
import { idAt } from './defaults.ts'

/* Items that are written in the same way in histories and answers. */

/** Fields that an answer adds to an item: an id, and a status if the item's type has one. */
export type Stamp = { readonly id?: string; readonly status?: string }

/**
 * Stamp of items in a history, which are sent without ids: upstreams look up the ids that they receive, and fail for
 * ids that they have not stored (trap 34).
 */
const NO_STAMP: Stamp = {}

/** Prefix of generated ids for reasoning from other formats. */
export const FOREIGN_REASONING = 'rs_il'

/** Returns the generated id and status of an item. Reasoning has no status. */
export function stampAt(prefix: string, base: string, index: number, status: string): Stamp {
  const id = idAt(prefix, base, index)
  return prefix === FOREIGN_REASONING ? { id } : { id, status }
}

/** Writes a call. Empty arguments become `{}`, exactly once (trap 8). */
export function writeCall(part: ToolCallPart, stamp: Stamp = NO_STAMP): JsonObject {
  const { id, name, namespace, arguments: text, freeform } = part
  return {
    type: freeform ? 'custom_tool_call' : 'function_call',
    ...stamp,
    ...(defined({ call_id: id, name, namespace }) as JsonObject),
    ...(freeform ? { input: text } : { arguments: text === '' ? '{}' : text }),
    ...extrasFor(part, FORMAT),
  }
}

/** Separator between sections of reasoning. */
export const SEPARATOR = '\n\n'

/** Splits reasoning text into sections at its cuts. A text without cuts is one section, and an empty text has none. */
function sectionsOf(text: string, cuts: readonly number[] | undefined): readonly string[] {
  if (cuts == null) return text === '' ? [] : [text]
  const ends = [...cuts, text.length]
  return ends.map((end, index) => text.slice(index === 0 ? 0 : ends[index - 1]! + SEPARATOR.length, end))
}

/** Writes reasoning as an item with a summary. */
export const writeReasoningItem = (
  part: ReasoningPart,
  encrypted: string | undefined,
  stamp: Stamp = NO_STAMP,
): JsonObject => ({
  type: 'reasoning',
  ...stamp,
  summary: sectionsOf(part.text, undefined).map(summaryText),
  ...defined({ encrypted_content: encrypted }),
  ...extrasFor(part, FORMAT),
})

/**
 * Writes the part's current sections into an upstream's reasoning item, in `content` if the upstream used that field.
 */
export function fillReasoning(item: JsonObject, part: ReasoningPart, encrypted: string | undefined): JsonObject {
  const { as, cuts } = spellingFor(part, FORMAT)
  const sections = sectionsOf(part.text, cuts as readonly number[] | undefined)
  const filled = as === 'content' ? { content: sections.map(reasoningText) } : { summary: sections.map(summaryText) }
  return {
    ...item,
    ...(sections.length === 0 ? {} : filled),
    ...defined({ encrypted_content: encrypted }),
    ...extrasFor(part, FORMAT),
  }
}

export const summaryText = (text: string): JsonObject => ({ type: 'summary_text', text })
export const reasoningText = (text: string): JsonObject => ({ type: 'reasoning_text', text })

/**
 * Returns the value of `encrypted_content`. A signature of this format is unchanged. Other issuers' reasoning is
 * wrapped as a whole, signed or not, because clients store nothing else of it (traps 27, 92).
 */
export function encryptedContent({ text, signature, redacted }: ReasoningPart): string | undefined {
  if (signature === undefined) return text === '' ? undefined : wrapReasoning([{ text }], FORMAT)
  const isNative = signature.format === FORMAT
  return wrapReasoning([defined({ text: isNative ? undefined : text, signature, redacted })], FORMAT)
}

/** Like `encryptedContent`, but for reasoning from an upstream of this format. Returns undefined if it is unsigned. */
export const nativeEncryptedContent = (part: ReasoningPart): string | undefined =>
  part.signature === undefined ? undefined : encryptedContent(part)

/** Writes an assistant message around its content. */
export const writeMessageItem = (content: Json, stamp: Stamp = NO_STAMP): JsonObject => ({
  type: 'message',
  ...stamp,
  role: 'assistant',
  content,
})

/** The item from which a part of an answer was read, if the upstream uses this format. */
interface OriginalItem {
  readonly item: JsonObject
  /** True if the item is complete. An incomplete item is in its initial state. */
  readonly whole: boolean
}

/**
 * Returns the original item that starts with this part, or undefined for parts of other formats, and for all but the
 * first part of a message.
 */
export function originalItem(part: Part): OriginalItem | undefined {
  if (part.type === 'opaque' && part.format === FORMAT && spellingFor(part, FORMAT)['in'] === undefined)
    return { item: part.value, whole: true }
  const { item, begun } = spellingFor(part, FORMAT)
  if (item != null) return { item: item as JsonObject, whole: true }
  return begun == null ? undefined : { item: begun as JsonObject, whole: false }
}

/** Writes a call whose tool the upstream knows under another name or as a function. */
const writeRestoredCall = (call: ToolCallPart): JsonObject =>
  writeCall(call, { id: `${call.freeform ? 'ctc' : 'fc'}_${call.id}`, status: 'completed' })

/** Returns the original items of an answer of this format, with the current reasoning and restored calls. */
export const originalItems = (content: readonly Part[]): readonly JsonObject[] =>
  content.flatMap(part => {
    const original = originalItem(part)
    if (original === undefined) return part.type === 'tool-call' ? [writeRestoredCall(part)] : []
    return [
      part.type === 'reasoning' ? fillReasoning(original.item, part, nativeEncryptedContent(part)) : original.item,
    ]
  })

/**
 * Returns encrypted reasoning to the organisation for which it was created (trap 33), as Codex does. Its id is omitted,
 * because the upstream would look it up and may not have stored it (trap 34).
 */
export const reasoningForHistory = (
  reasoning: ReasoningPart,
  { toIssuer }: ReasoningTarget,
): ReasoningPart | undefined => (toIssuer && reasoning.signature?.format === FORMAT ? reasoning : undefined)

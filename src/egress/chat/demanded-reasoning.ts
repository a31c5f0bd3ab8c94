import type { Part } from '../../canonical/content.ts'
import type { Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import type { ChatDialect } from '../../formats/dialects/chat.ts'
import { NO_REASONING_KNOWN } from '../losses.ts'
import type { WriteContext } from './content.ts'

/*
 * DeepSeek and Kimi refuse a history with calls whose assistant turns have no reasoning: "The `reasoning_content` in the
 * thinking mode must be passed back to the API" (trap 35). The gateway may have none: another model made the calls, the
 * memory has expired, or the caller drops the reasoning of plain answers.
 */

/** Reasoning of turns whose reasoning is not known. An empty text is refused, too. */
const PLACEHOLDER = ' '

/** Fields that hold the reasoning of a turn as one string. */
const TEXT_FIELDS: ReadonlySet<string | undefined> = new Set(['reasoning_content', 'reasoning'])

/**
 * Returns the index of the first message with tool calls, from which on the upstream demands reasoning. Undefined if it
 * demands none. Depends only on earlier messages, so that prompt caches stay valid.
 */
export function demandedFrom(
  { messages, reasoning }: CanonicalRequest,
  { reasoning_demanded, reasoning_field }: ChatDialect,
): number | undefined {
  if (reasoning_demanded !== true || !TEXT_FIELDS.has(reasoning_field) || reasoning?.effort === 'none') return undefined
  const first = messages.findIndex(hasCalls)
  return first === -1 ? undefined : first
}

const hasCalls = ({ role, content }: Message): boolean =>
  role === 'assistant' && content.some(({ type }) => type === 'tool-call')

/**
 * Adds a placeholder to an assistant message without reasoning, if the upstream demands reasoning there.
 *
 * @param run the indexes of the turns that the written message holds.
 */
export function withDemandedReasoning(
  wire: JsonObject,
  messages: readonly Message[],
  run: readonly number[],
  { dialect, losses, reasoningFrom }: WriteContext,
): JsonObject {
  if (reasoningFrom === undefined || run.at(-1)! < reasoningFrom || wire['role'] !== 'assistant') return wire
  const field = dialect.reasoning_field!
  if ((wire[field] ?? '') !== '') return wire
  const path: Path = ['messages', run[0]!, 'content']
  const empty = messages[run[0]!]!.content.findIndex(isEmptyReasoning)
  if (wire[field] === '' && empty !== -1) losses.change([...path, empty, 'text'], PLACEHOLDER, NO_REASONING_KNOWN)
  else losses.insert([...path, 0], { type: 'reasoning', text: PLACEHOLDER }, NO_REASONING_KNOWN)
  return { ...wire, [field]: PLACEHOLDER }
}

const isEmptyReasoning = (part: Part): boolean =>
  part.type === 'reasoning' && part.text === '' && part.signature === undefined && part.redacted !== true

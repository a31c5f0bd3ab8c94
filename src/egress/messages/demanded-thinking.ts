import type { Losses, Path } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject, stringIn } from '../../canonical/node.ts'
import type { MessagesDialect } from '../../formats/dialects/messages.ts'
import { NO_REASONING_KNOWN } from '../losses.ts'
import type { Block } from './context.ts'
import { isDisabled } from './thinking.ts'

/*
 * DeepSeek refuses a history in which a turn with calls has no thinking: "The `content[].thinking` in the thinking mode
 * must be passed back to the API" (cc-switch, `normalize_anthropic_tool_thinking_history`; obsidian-yolo#326;
 * "Messages API", api-docs.deepseek.com; read on 2026-12-01). The gateway may have none: another model made the calls,
 * or the caller drops the thinking.
 */

/** Thinking of turns whose thinking is not known. A blank text is refused, too. */
const PLACEHOLDER = 'tool call'

/** Returns true if the upstream refuses calls without thinking in a request with these thinking settings. */
export const demandsThinking = ({ reasoning_demanded }: MessagesDialect, thinking: Json | undefined): boolean =>
  reasoning_demanded === true && !isDisabled(thinking)

/** Returns true if the blocks of a turn of the assistant contain calls, but no thinking. */
export const lacksThinking = (blocks: readonly Json[]): boolean =>
  blocks.some(block => isOfType(block, 'tool_use')) &&
  !blocks.some(block => isOfType(block, 'thinking') && stringIn((block as JsonObject)['thinking']).trim() !== '')

const isOfType = (block: Json, type: string): boolean => isObject(block) && block['type'] === type

/** Returns the block that stands for unknown thinking, and reports it as inserted at a path. */
export function insertedThinking(path: Path, losses: Losses): Block {
  losses.insert(path, { type: 'reasoning', text: PLACEHOLDER }, NO_REASONING_KNOWN)
  return { type: 'thinking', thinking: PLACEHOLDER }
}

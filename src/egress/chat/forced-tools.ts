import type { Losses } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { ChatDialect } from '../../formats/dialects/chat.ts'
import { forcedInThinking } from '../sanitize/forced-tools.ts'

/*
 * DeepSeek, Kimi and Qwen think unless told otherwise, and refuse to be forced to call a tool meanwhile: "Thinking mode
 * does not support this tool_choice" (DeepSeek-V3#1376), "tool_choice 'required' is incompatible with thinking enabled"
 * (inspect_ai#5152), "does not support being set to required or object in thinking mode" (qwen-code#7659).
 */

/** Switches of thinking that these vendors have. */
const VENDOR_SWITCHES: ReadonlySet<ChatDialect['reasoning_as']> = new Set(['thinking', 'enable_thinking'])

const isLimited = ({ forced_while_thinking, reasoning_as }: ChatDialect): boolean =>
  forced_while_thinking === false && VENDOR_SWITCHES.has(reasoning_as)

/** Returns true if a native body forces a call that its upstream refuses unless it is written anew. */
export const forcesWhileThinking = (body: JsonObject): boolean => isForced(body['tool_choice']) && !isDisabled(body)

const isForced = (choice: Json | undefined): boolean =>
  choice === 'required' || choice === 'any' || (typeof choice === 'object' && choice !== null)

const isDisabled = ({ thinking, enable_thinking }: JsonObject): boolean =>
  enable_thinking === false || (thinking as JsonObject | undefined)?.['type'] === 'disabled'

/** Lets an upstream that is declared so choose whether it thinks or is forced to call a tool. */
export const withForcedTools = (request: CanonicalRequest, dialect: ChatDialect, losses: Losses): CanonicalRequest =>
  isLimited(dialect) ? forcedInThinking(request, losses, dialect.thinking_off === 'never') : request

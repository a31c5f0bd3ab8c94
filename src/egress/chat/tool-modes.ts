import type { Losses } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Tool, ToolChoice } from '../../canonical/tool.ts'
import type { ChatDialect } from '../../formats/dialects/chat.ts'
import { extrasFor } from '../fields.ts'
import { FORMAT } from './content.ts'

/*
 * Choices of tools at servers that take a mode only, or none at all. LM Studio refuses a choice that names a tool
 * ("Invalid tool_choice type: 'object'", lmstudio-bug-tracker#670), llama.cpp takes it for `auto` (`json_value` in
 * `server-common.h`), and Ollama reads no choice (`openai/openai.go`). Read on 2026-12-01. Only the tools that the
 * choice allows are then offered.
 */

/** Returns a predicate for the tools that are offered, or undefined for all. */
export function offeredBy(
  { tools = [], toolChoice }: CanonicalRequest,
  { tool_choices = 'all' }: ChatDialect,
): ((tool: Tool) => boolean) | undefined {
  if (tool_choices === 'all' || toolChoice === undefined) return undefined
  if (toolChoice.mode === 'none') return tool_choices === 'none' ? () => false : undefined
  const only = toolChoice.only && new Set(toolChoice.only)
  const isAllowed = (tool: Tool): boolean => only!.has(nameOf(tool))
  return only !== undefined && tools.some(isAllowed) ? isAllowed : undefined
}

const nameOf = (tool: Tool): string => (tool.type === 'function' || tool.type === 'freeform' ? tool.name : '')

/** Writes the mode of a choice among the offered tools, if the upstream takes modes. */
export function writeMode(
  request: CanonicalRequest,
  choice: ToolChoice,
  dialect: ChatDialect,
  losses: Losses,
): JsonObject {
  const { mode, only, hosted } = choice
  const isOffered = offeredBy(request, dialect) !== undefined
  if (Object.keys(extrasFor(choice, FORMAT)).length > 0) losses.drop(['toolChoice', 'extras', FORMAT], 'no-such-choice')
  if (hosted !== undefined) losses.drop(['toolChoice', 'hosted'], 'no-hosted-tools')
  if (only !== undefined && isOffered) losses.dropRestored(['toolChoice', 'only'], 'others-are-not-offered')
  else if (only !== undefined) losses.drop(['toolChoice', 'only'], 'no-such-choice')
  if (dialect.tool_choices === 'modes') return { tool_choice: mode }
  if (mode === 'required') losses.change(['toolChoice', 'mode'], 'auto', 'no-forced-tools')
  losses.dropRestored(['toolChoice'], 'the-default')
  return {}
}

/** Returns true if a native body has a choice that the upstream refuses or does not read. */
export const hasRefusedChoice = (choice: Json | undefined, { tool_choices }: ChatDialect): boolean =>
  isObject(choice) || (tool_choices === 'none' && choice === 'none')

import type { Losses } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Tool, ToolChoice } from '../../canonical/tool.ts'
import type { ChatDialect } from '../../formats/dialects/chat.ts'
import { extrasFor } from '../fields.ts'
import { FORMAT } from './content.ts'

/*
 * Choices of tools that upstreams other than OpenAI take. Most know no choice of several tools (`allowed_tools`;
 * api-docs.deepseek.com, "Create chat completion"). Servers on own machines take a mode only, or none at all: LM Studio
 * refuses a choice that names a tool ("Invalid tool_choice type: 'object'", lmstudio-bug-tracker#670), llama.cpp takes it
 * for `auto` (`json_value` in `server-common.h`), and Ollama reads no choice (`openai/openai.go`). Read on 2026-12-01.
 * Only the tools that the choice allows are then offered.
 */

/** Returns true if the upstream takes a choice that names tools. */
export const takesNames = ({ tool_choices = 'all' }: ChatDialect): boolean =>
  tool_choices === 'all' || tool_choices === 'one'

/** Returns true if the choice is a call of one tool. */
export const isNamed = ({ mode, only }: ToolChoice): boolean => mode === 'required' && only?.length === 1

/** Returns a predicate for the tools that are offered, or undefined for all. */
export function offeredBy(
  { tools = [], toolChoice }: CanonicalRequest,
  { tool_choices = 'all' }: ChatDialect,
): ((tool: Tool) => boolean) | undefined {
  if (tool_choices === 'all' || toolChoice === undefined) return undefined
  if (toolChoice.mode === 'none') return tool_choices === 'none' ? () => false : undefined
  if (tool_choices === 'one' && isNamed(toolChoice)) return undefined
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
  if (Object.keys(extrasFor(choice, FORMAT)).length > 0) losses.drop(['toolChoice', 'extras', FORMAT], 'no-such-choice')
  if (hosted !== undefined) losses.drop(['toolChoice', 'hosted'], 'no-hosted-tools')
  if (only !== undefined) reportOnly(request, dialect, losses)
  if (dialect.tool_choices === 'modes') return { tool_choice: mode }
  if (mode === 'required') losses.change(['toolChoice', 'mode'], 'auto', 'no-forced-tools')
  losses.dropRestored(['toolChoice'], 'the-default')
  return {}
}

/** Reports the names of a choice that is written as a mode. Nothing is lost if these tools alone are offered. */
export function reportOnly(request: CanonicalRequest, dialect: ChatDialect, losses: Losses): void {
  const path = ['toolChoice', 'only']
  if (offeredBy(request, dialect) === undefined) losses.drop(path, 'no-such-choice')
  else losses.dropRestored(path, 'others-are-not-offered')
}

/** Returns true if a native body has a choice that the upstream refuses or does not read. */
export const hasRefusedChoice = (choice: Json | undefined, { tool_choices }: ChatDialect): boolean =>
  tool_choices === 'one'
    ? isObject(choice) && choice['type'] === 'allowed_tools'
    : isObject(choice) || (tool_choices === 'none' && choice === 'none')

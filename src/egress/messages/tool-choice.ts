import type { Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Tool, ToolChoice } from '../../canonical/tool.ts'
import { defined, kept } from '../fields.ts'
import { reportNoChoice } from '../sanitize/choice.ts'
import { FORMAT, type Tools, type WriteContext } from './context.ts'
import { HOSTED, nameOf } from './tool-names.ts'

/**
 * Whether a tool may be called, where the choice allows only some; undefined where it allows all, or names the one to
 * be called. The format has no such choice, so the others are not offered: that changes the prompt, but only when the
 * choice changes.
 */
export function allowing(choice: ToolChoice | undefined): ((tool: Tool) => boolean) | undefined {
  const { mode, only, hosted } = choice ?? {}
  if (only === undefined || mode === 'none') return undefined
  const names = new Set(only)
  return tool => {
    if (tool.type === 'hosted') return tool.kind === hosted
    const name = nameOf(tool)
    return name !== undefined && names.has(name)
  }
}

/** Whether the choice names a single tool, so that all can be offered. */
export const namesOne = (choice: ToolChoice | undefined, { dialect }: WriteContext): boolean =>
  choice?.mode === 'required' &&
  choice.only?.length === 1 &&
  choice.hosted === undefined &&
  dialect.forced_tools !== false

/** Whether a tool has to be called, as far as the upstream supports it. */
export const forces = ({ toolChoice }: CanonicalRequest, { wire, none }: Tools, { dialect }: WriteContext): boolean =>
  toolChoice?.mode === 'required' && wire.length > 0 && !none && dialect.forced_tools !== false

/** `tool_choice`, which also contains whether several tools may be called at once (trap 54). */
export function writeToolChoice(request: CanonicalRequest, tools: Tools, context: WriteContext): JsonObject {
  const { toolChoice: choice, parallelToolCalls: parallel } = request
  const own = choice?.extras?.[FORMAT]?.['tool_choice']
  if (own !== undefined) return { tool_choice: own }
  if (choice === undefined && parallel === undefined) return {}
  if (tools.wire.length === 0) {
    reportNoChoice(request, context.losses)
    return {}
  }
  if (choice === undefined) context.losses.add(['toolChoice'], { mode: 'auto' }, 'minted-default-choice')
  const effective = choice ?? { mode: 'auto' }
  const wire = supportedChoice(effective, tools, context)
  const disabled = parallel === undefined ? undefined : !parallel
  const silent = wire['type'] === 'none' && disabled !== undefined
  if (silent) context.losses.drop(['parallelToolCalls'], 'none-is-none')
  const several = silent ? {} : defined({ disable_parallel_tool_use: disabled })
  return { tool_choice: { ...wire, ...several, ...kept(choice, FORMAT) } as JsonObject }
}

const TYPES: { readonly [M in ToolChoice['mode']]: string } = { auto: 'auto', required: 'any', none: 'none' }

/** At most one tool can be named, it must be offered, and some models do not support forced calls (trap 93). */
function supportedChoice(choice: ToolChoice, tools: Tools, { dialect, losses }: WriteContext): JsonObject {
  const path: Path = ['toolChoice']
  const { mode, only, hosted } = choice
  const name = mode === 'required' && dialect.forced_tools !== false ? namedOf(choice, tools) : undefined
  const became = tools.none ? 'none' : mode === 'required' && dialect.forced_tools === false ? 'auto' : mode
  if (became !== mode) losses.change([...path, 'mode'], became, became === 'none' ? 'no-such-tools' : 'no-forced-tools')
  if (only !== undefined && (name === undefined || name !== only[0])) {
    if (mode === 'none' || tools.none) losses.drop([...path, 'only'], 'no-such-choice')
    else losses.hide([...path, 'only'], 'others-are-not-offered')
  }
  if (hosted !== undefined && name !== HOSTED[hosted].name) losses.drop([...path, 'hosted'], 'no-such-choice')
  return name === undefined ? { type: TYPES[became] } : { type: 'tool', name }
}

/** The single tool that has to be called, if it is offered. */
function namedOf({ only, hosted }: ToolChoice, { names }: Tools): string | undefined {
  const one = only?.length === 1 ? only[0] : undefined
  const name = hosted === undefined ? one : only === undefined ? HOSTED[hosted].name : undefined
  return name !== undefined && names.has(name) ? name : undefined
}

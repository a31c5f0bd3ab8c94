import type { JsonObject } from '../../canonical/node.ts'
import type { Tool, ToolChoice } from '../../canonical/tool.ts'
import { extrasWithin, flag, object, objects, required, text } from '../fields.ts'
import { opaqueTool } from '../opaque-tool.ts'
import { readFunction } from '../tools.ts'
import { FORMAT, isFunction } from './wire.ts'

const TOOL = new Set(['type', 'function'])
const FUNCTION = new Set(['name', 'description', 'parameters'])

/** Reads the tools. `strict_tools` applies to all functions. If there are none, it becomes an extra. */
export function readTools(body: JsonObject, unreadFields: string[]): readonly Tool[] | undefined {
  const strict = flag(body['strict_tools'])
  const tools = objects(body['tools'])?.map(wire => readTool(wire, strict))
  if (strict !== undefined && tools?.some(({ type }) => type === 'function') !== true) unreadFields.push('strict_tools')
  return tools
}

function readTool(wire: JsonObject, strict: boolean | undefined): Tool {
  text(wire['type'])
  if (!isFunction(wire)) return opaqueTool(FORMAT, wire)
  const definition = required(object(wire['function']))
  const { strict: _, ...tool } = readFunction({ ...definition, strict: null })
  return {
    ...tool,
    ...(strict === undefined ? {} : { strict }),
    ...extrasWithin(FORMAT, wire, 'function', definition, FUNCTION, TOOL),
  }
}

const MODES: { readonly [word: string]: ToolChoice['mode'] } = { REQUIRED: 'required', NONE: 'none' }

/** Reads the tool choice. An unknown value becomes an extra. */
export function readToolChoice(body: JsonObject): ToolChoice | undefined {
  const word = text(body['tool_choice'])
  if (word === undefined) return undefined
  return Object.hasOwn(MODES, word)
    ? { mode: MODES[word]! }
    : { mode: 'auto', extras: { [FORMAT]: { tool_choice: word } } }
}

import type { JsonObject } from '../../canonical/node.ts'
import type { FreeformTool, FunctionTool, ToolChoice } from '../../canonical/tool.ts'
import { defined, flag, object, required, rest, spelling, text } from '../fields.ts'
import { readCache } from './content.ts'

/*
 * Tools in the shape of responses, which Cursor sends to this endpoint: name and parameters beside the type (trap 73).
 */

const FORMAT = 'chat'
const TYPES: ReadonlySet<unknown> = new Set(['function', 'custom'])
const MARKERS = ['cache_control', 'prompt_cache_breakpoint'] as const
const TAKEN = {
  function: new Set(['type', 'name', 'description', 'parameters', 'strict', ...MARKERS]),
  custom: new Set(['type', 'name', 'description', 'format', ...MARKERS]),
  customFree: new Set(['type', 'name', 'description', ...MARKERS]),
}

/** A function's name and parameters, wherever they stand. */
export function readFunction(wire: JsonObject): FunctionTool {
  return {
    type: 'function',
    name: required(text(wire['name'])),
    ...defined({
      description: text(wire['description']),
      parameters: object(wire['parameters']),
      strict: flag(wire['strict']),
    }),
  }
}

export function readFlatTool(wire: JsonObject): FunctionTool | FreeformTool {
  if (wire['type'] === 'custom') return readCustom(wire)
  const type = wire['type'] === undefined ? 'absent' : undefined
  return {
    ...readFunction(wire),
    ...readCache(wire),
    ...rest(FORMAT, wire, TAKEN.function, spelling({ flat: true, type })),
  }
}

function readCustom(wire: JsonObject): FreeformTool {
  const { type, syntax, definition, ...others } = object(wire['format']) ?? {}
  const bound = type === 'grammar' && typeof syntax === 'string' && typeof definition === 'string'
  const known = bound && Object.keys(others).length === 0
  return {
    type: 'freeform',
    name: required(text(wire['name'])),
    ...defined({ description: text(wire['description']) }),
    ...(known ? { grammar: { syntax, definition } } : {}),
    ...readCache(wire),
    ...rest(FORMAT, wire, known ? TAKEN.custom : TAKEN.customFree, { flat: true }),
  }
}

/** `{ type: "function", name }`, and the same with `custom`. */
export function readFlatChoice(wire: JsonObject): ToolChoice | undefined {
  const { type, name } = wire
  if (!TYPES.has(type) || typeof name !== 'string' || Object.keys(wire).length !== 2) return undefined
  const as = type === 'custom' ? 'custom' : undefined
  return { mode: 'required', only: [name], spelling: { [FORMAT]: spelling({ as, flat: true })! } }
}

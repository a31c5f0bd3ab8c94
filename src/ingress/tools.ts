import type { Part } from '../canonical/content.ts'
import { isObject, type Json, type JsonObject } from '../canonical/node.ts'
import type { FreeformTool, FunctionTool, HostedTool, ToolChoice } from '../canonical/tool.ts'
import { defined, flag, object, required, text } from './fields.ts'

/* Readers for tool definitions shared by several conversation formats. */

/**
 * Reads a function tool.
 *
 * @param schema the field with the schema of the parameters.
 */
export const readFunction = (wire: JsonObject, schema = 'parameters'): FunctionTool => ({
  type: 'function',
  name: required(text(wire['name'])),
  ...defined({
    description: text(wire['description']),
    parameters: object(wire[schema]),
    strict: flag(wire['strict']),
  }),
})

/** Reads a tool whose argument is free text. */
export const readFreeform = (wire: JsonObject, grammar: FreeformTool['grammar']): FreeformTool => ({
  type: 'freeform',
  name: required(text(wire['name'])),
  ...defined({ description: text(wire['description']), grammar }),
})

/** Reads `{ type: "grammar", syntax, definition }`. Returns undefined if there are other fields. */
export function readGrammar({ type, syntax, definition, ...others }: JsonObject): FreeformTool['grammar'] {
  const isPlain = type === 'grammar' && Object.keys(others).length === 0
  return isPlain && typeof syntax === 'string' && typeof definition === 'string' ? { syntax, definition } : undefined
}

/** Splits the parts of a turn into alternating runs of tool results and of other parts. */
export function runsOf(content: readonly Part[]): readonly (readonly Part[])[] {
  const runs: Part[][] = []
  for (const part of content) {
    const run = runs.at(-1)
    const isResult = part.type === 'tool-result'
    if (run !== undefined && (run[0]!.type === 'tool-result') === isResult) run.push(part)
    else runs.push([part])
  }
  return runs
}

const LOCATION_FIELDS = new Set(['city', 'country', 'region', 'timezone'])

/** Reads a geographic location. Returns undefined if it has fields that the canonical model lacks. */
export const readLocation = (wire: JsonObject): HostedTool['location'] =>
  Object.entries(wire).every(([key, value]) => LOCATION_FIELDS.has(key) && typeof value === 'string') ? wire : undefined

/** Reads a location marked `type: "approximate"`. */
export function readApproximateLocation(wire: Json | undefined): HostedTool['location'] {
  if (!isObject(wire) || wire['type'] !== 'approximate') return undefined
  const { type: _, ...location } = wire
  return readLocation(location)
}

const MODES = new Set<Json>(['auto', 'none', 'required'])

/** Reads a tool choice written as a single word. Returns undefined for an unknown word. */
export const readMode = (wire: string): ToolChoice['mode'] | undefined =>
  MODES.has(wire) ? (wire as ToolChoice['mode']) : undefined

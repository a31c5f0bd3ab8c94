import type { Part } from '../canonical/content.ts'
import { isObject, type Json, type JsonObject } from '../canonical/node.ts'
import type { FreeformTool, FunctionTool, HostedTool, ToolChoice } from '../canonical/tool.ts'
import { defined, flag, object, required, text } from './fields.ts'

/* What tools have in common in the formats of conversations. */

/** @param schema the field of its parameters. */
export const readFunction = (wire: JsonObject, schema = 'parameters'): FunctionTool => ({
  type: 'function',
  name: required(text(wire['name'])),
  ...defined({
    description: text(wire['description']),
    parameters: object(wire[schema]),
    strict: flag(wire['strict']),
  }),
})

/** A tool that takes text. */
export const readFreeform = (wire: JsonObject, grammar: FreeformTool['grammar']): FreeformTool => ({
  type: 'freeform',
  name: required(text(wire['name'])),
  ...defined({ description: text(wire['description']), grammar }),
})

/** `{ type: "grammar", syntax, definition }`, with nothing else. */
export function readGrammar({ type, syntax, definition, ...others }: JsonObject): FreeformTool['grammar'] {
  const isPlain = type === 'grammar' && Object.keys(others).length === 0
  return isPlain && typeof syntax === 'string' && typeof definition === 'string' ? { syntax, definition } : undefined
}

/** The parts of a turn, cut where results of tools begin or end. */
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

const PLACE = new Set(['city', 'country', 'region', 'timezone'])

/** A place, where canonical has all of its fields. */
export const readPlace = (wire: JsonObject): HostedTool['location'] =>
  Object.entries(wire).every(([key, value]) => PLACE.has(key) && typeof value === 'string') ? wire : undefined

/** `{ type: "approximate" }` with the fields of a place. */
export function readApproximate(wire: Json | undefined): HostedTool['location'] {
  if (!isObject(wire) || wire['type'] !== 'approximate') return undefined
  const { type: _, ...place } = wire
  return readPlace(place)
}

const MODES = new Set<Json>(['auto', 'none', 'required'])

/** A choice among tools that is a word. */
export const readMode = (wire: string): ToolChoice['mode'] | undefined =>
  MODES.has(wire) ? (wire as ToolChoice['mode']) : undefined

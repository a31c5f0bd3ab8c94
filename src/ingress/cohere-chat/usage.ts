import { type JsonObject, withWireSource } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { anyObject, defined, extrasOf } from '../fields.ts'
import { anyCount, reconcileCounts } from '../usage/counts.ts'
import { FORMAT } from './wire.ts'

/**
 * Counts that are read from each group. Billed tokens exclude the prompt that Cohere adds; they remain in the recorded
 * source.
 */
const COUNTS = ['input_tokens', 'output_tokens', 'search_units'] as const

/** Reads usage: the tokens that the model processed, or else the billed tokens (docs/wire/cohere-chat.md#usage). */
export function readUsage(wire: JsonObject): Usage {
  const tokens = anyObject(wire['tokens'])
  const billedUnits = anyObject(wire['billed_units'])
  const cacheRead = anyCount(wire['cached_tokens'])
  const knownFields = new Set<string>(cacheRead === undefined ? [] : ['cached_tokens'])
  const groups: { [group: string]: JsonObject } = {}
  for (const [name, group] of Object.entries({ tokens, billed_units: billedUnits })) {
    if (group === undefined) continue
    knownFields.add(name)
    const unread = extrasOf(FORMAT, group, takenOf(group)).extras?.[FORMAT]
    if (unread !== undefined) groups[name] = unread
  }
  const extras = { ...extrasOf(FORMAT, wire, knownFields).extras?.[FORMAT], ...groups }
  const input = anyCount(tokens?.['input_tokens']) ?? anyCount(billedUnits?.['input_tokens'])
  const output = anyCount(tokens?.['output_tokens']) ?? anyCount(billedUnits?.['output_tokens'])
  const usage = {
    ...reconcileCounts({ input, output, cached: cacheRead }),
    ...defined({ cacheRead, searches: anyCount(billedUnits?.['search_units']) }),
    ...(Object.keys(extras).length === 0 ? {} : { extras: { [FORMAT]: extras } }),
  }
  return withWireSource(usage, FORMAT, wire)
}

const takenOf = (group: JsonObject): ReadonlySet<string> =>
  new Set(COUNTS.filter(field => anyCount(group[field]) !== undefined))

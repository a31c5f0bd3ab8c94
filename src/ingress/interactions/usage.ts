import { type Json, type JsonObject, withWireSource } from '../../canonical/node.ts'
import type { Modality } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/result.ts'
import { anyObjects, anyText, definedIfAny, extrasOf, withDefined } from '../fields.ts'
import { anyCount, reconcileCounts } from '../usage/counts.ts'
import { FORMAT } from './wire.ts'

const COUNTS = [
  ...['total_input_tokens', 'total_cached_tokens', 'total_output_tokens', 'total_thought_tokens', 'total_tokens'],
] as const

/**
 * Reads usage (docs/wire/interactions.md#usage). Prompts of hosted tools count as input, reasoning counts as output,
 * and cached tokens are part of the input.
 */
export function readUsage(wire: JsonObject): Usage {
  const answer = anyCount(wire['total_output_tokens'])
  const reasoning = anyCount(wire['total_thought_tokens'])
  const total = anyCount(wire['total_tokens'])
  const cacheRead = anyCount(wire['total_cached_tokens'])
  const input = sum(anyCount(wire['total_input_tokens']), anyCount(wire['total_tool_use_tokens']))
  const includesReasoning = answer !== undefined && (input ?? 0) + answer === total
  const prompt = byModality(wire['input_tokens_by_modality'])
  const outputBy = byModality(wire['output_tokens_by_modality'])
  const searches = readSearches(wire['grounding_tool_count'])
  const knownFields = new Set<string>(COUNTS.filter(field => anyCount(wire[field]) !== undefined))
  if (prompt !== undefined && prompt.others.length === 0) knownFields.add('input_tokens_by_modality')
  if (outputBy !== undefined && outputBy.others.length === 0) knownFields.add('output_tokens_by_modality')
  if (searches !== undefined) knownFields.add('grounding_tool_count')
  if (wire['total_tool_use_tokens'] === 0) knownFields.add('total_tool_use_tokens')
  const { extras } = extrasOf(FORMAT, wire, knownFields)
  const counts = reconcileCounts({
    input,
    output: includesReasoning ? answer : sum(answer, reasoning),
    total,
    cached: total === undefined ? undefined : cacheRead,
  })
  const usage: Usage = withDefined(counts, {
    ...{ cacheRead, reasoning, inputBy: prompt?.counts, outputBy: outputBy?.counts, searches },
    extras: extras?.[FORMAT] && { [FORMAT]: { ...extras[FORMAT], ...othersOf(prompt, outputBy) } },
  })
  return withWireSource(usage, FORMAT, wire)
}

const sum = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0)

/** Modalities that have canonical counts. */
const MODALITIES: ReadonlySet<string> = new Set(['text', 'image', 'audio', 'video'] satisfies Modality[])

interface ByModality {
  readonly counts: { readonly [M in Modality]?: number } | undefined
  /** Entries of modalities that the canonical model lacks. */
  readonly others: readonly JsonObject[]
}

function byModality(wire: Json | undefined): ByModality | undefined {
  if (!Array.isArray(wire)) return undefined
  const counts: { [M in Modality]?: number } = {}
  const others: JsonObject[] = []
  for (const entry of anyObjects(wire)) {
    const modality = anyText(entry['modality']) as Modality
    const tokens = anyCount(entry['tokens'])
    if (tokens === undefined || !MODALITIES.has(modality)) others.push(entry)
    else counts[modality] = (counts[modality] ?? 0) + tokens
  }
  return { counts: definedIfAny(counts), others }
}

/** Returns the unread entries, by field. */
function othersOf(prompt: ByModality | undefined, outputBy: ByModality | undefined): JsonObject {
  return {
    ...(prompt === undefined || prompt.others.length === 0 ? {} : { input_tokens_by_modality: prompt.others }),
    ...(outputBy === undefined || outputBy.others.length === 0 ? {} : { output_tokens_by_modality: outputBy.others }),
  }
}

/** Reads the number of searches. Returns undefined if other tools are also counted. */
function readSearches(wire: Json | undefined): number | undefined {
  if (!Array.isArray(wire) || wire.length !== 1) return undefined
  const [only] = anyObjects(wire)
  return only?.['type'] === 'google_search' && Object.keys(only).length === 2 ? anyCount(only['count']) : undefined
}

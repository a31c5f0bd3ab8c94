import { rowOf } from '../../canonical/maps.ts'
import { type Json, type JsonObject, withWireSource } from '../../canonical/node.ts'
import type { Modality } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/result.ts'
import { anyObjects, anyText, definedIfAny, extrasOf, withDefined } from '../fields.ts'
import { anyCount, type ReportedCounts, reconcileCounts } from '../usage/counts.ts'
import { anyNumeral, FORMAT, inCamelCase } from './fields.ts'

const USAGE_FIELDS = new Set([
  ...['promptTokenCount', 'cachedContentTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount'],
  ...['toolUsePromptTokenCount', 'totalTokenCount', 'promptTokensDetails', 'candidatesTokensDetails'],
  ...['toolUsePromptTokensDetails', 'cacheTokensDetails', 'serviceTier', 'trafficType'],
])
const KNOWN_FIELDS = new Set([
  ...['promptTokenCount', 'cachedContentTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount', 'totalTokenCount'],
  ...['promptTokensDetails', 'candidatesTokensDetails', 'serviceTier'],
])

/**
 * Reads usage (docs/wire/contents.md#usage, trap 24). Prompts of hosted tools count as input, and reasoning counts as
 * output.
 */
export function readUsage(wire: JsonObject): Usage {
  const fields = inCamelCase(wire, USAGE_FIELDS)
  const reasoning = countOf(fields['thoughtsTokenCount'])
  const answer = countOf(fields['candidatesTokenCount'])
  const cacheRead = countOf(fields['cachedContentTokenCount'])
  const reported = {
    input: sum(countOf(fields['promptTokenCount']), countOf(fields['toolUsePromptTokenCount'])),
    total: countOf(fields['totalTokenCount']),
  }
  const prompt = byModality(fields['promptTokensDetails'])
  const answered = byModality(fields['candidatesTokensDetails'])
  const others = withDefined(
    { ...extrasOf(FORMAT, fields, KNOWN_FIELDS).extras?.[FORMAT] },
    { promptTokensDetails: prompt?.others, candidatesTokensDetails: answered?.others },
  )
  const usage: Usage = withDefined(tokensOf(reported, answer, reasoning, cacheRead), {
    ...{ cacheRead, reasoning, inputBy: prompt?.counts, outputBy: answered?.counts },
    extras: Object.keys(others).length === 0 ? undefined : { [FORMAT]: others as JsonObject },
  })
  return withWireSource(usage, FORMAT, wire)
}

/** Reads the service tier, which is in the usage. */
export function tierOf(wire: JsonObject): string | undefined {
  const tier = anyText(inCamelCase(wire, USAGE_FIELDS)['serviceTier'])?.toLowerCase()
  return tier === 'standard' ? 'default' : tier
}

/**
 * Adds reasoning tokens to the answer's tokens, and includes cached tokens in the prompt's tokens, unless the total
 * shows otherwise.
 */
function tokensOf(
  reported: ReportedCounts,
  answer: number | undefined,
  reasoning: number | undefined,
  cached: number | undefined,
) {
  const inside = (reported.input ?? 0) + (answer ?? 0) === reported.total
  const output = inside && answer !== undefined ? answer : sum(answer, reasoning)
  return reconcileCounts({ ...reported, output, cached })
}

const countOf = (value: Json | undefined): number | undefined => anyCount(anyNumeral(value))

const sum = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0)

const MODALITIES: { readonly [modality: string]: Modality } = {
  TEXT: 'text',
  IMAGE: 'image',
  AUDIO: 'audio',
  VIDEO: 'video',
}

interface ByModality {
  readonly counts: { readonly [M in Modality]?: number } | undefined
  /** Entries of modalities that the canonical model lacks. */
  readonly others: readonly JsonObject[] | undefined
}

function byModality(wire: Json | undefined): ByModality | undefined {
  if (wire === undefined) return undefined
  const counts: { [M in Modality]?: number } = {}
  const others: JsonObject[] = []
  for (const entry of anyObjects(wire)) {
    const modality = anyText(entry['modality']) ?? ''
    const known = rowOf(MODALITIES, modality)
    if (known === undefined) others.push(entry)
    else counts[known] = (counts[known] ?? 0) + (countOf(entry['tokenCount'] ?? entry['token_count']) ?? 0)
  }
  return {
    counts: definedIfAny(counts),
    others: others.length === 0 ? undefined : others,
  }
}

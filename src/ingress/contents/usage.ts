import type { Json, JsonObject } from '../../canonical/node.ts'
import type { Modality } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/result.ts'
import { anyObjects, anyText, defined } from '../fields.ts'
import { anyNumeral, leftOf, nodeOf, open } from './fields.ts'

const KNOWN = new Set([
  ...['promptTokenCount', 'cachedContentTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount'],
  ...['toolUsePromptTokenCount', 'totalTokenCount', 'promptTokensDetails', 'candidatesTokensDetails'],
  ...['toolUsePromptTokensDetails', 'cacheTokensDetails', 'serviceTier', 'trafficType'],
])
const TAKEN = new Set([
  ...['promptTokenCount', 'cachedContentTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount', 'totalTokenCount'],
  ...['promptTokensDetails', 'candidatesTokensDetails', 'serviceTier'],
])

/**
 * Tokens as canonical counts them (FORMATS §16.3, trap 24): the prompt of hosted tools is input, thoughts are output.
 * How it was written is kept whole, since absent counts and orders of lists say nothing.
 */
export function readUsage(wire: JsonObject): Usage {
  const opened = open(wire, KNOWN)
  const { fields } = opened
  const input = sum(fields['promptTokenCount'], fields['toolUsePromptTokenCount'])
  const reasoning = anyNumeral(fields['thoughtsTokenCount'])
  const output = sum(fields['candidatesTokenCount'], reasoning)
  const total = anyNumeral(fields['totalTokenCount'])
  const prompt = byModality(fields['promptTokensDetails'])
  const answer = byModality(fields['candidatesTokensDetails'])
  const { extras } = leftOf(opened, TAKEN)
  const more = defined({ promptTokensDetails: prompt.others, candidatesTokensDetails: answer.others })
  const all = { ...extras, ...more }
  return {
    ...defined({
      input,
      cacheRead: anyNumeral(fields['cachedContentTokenCount']),
      output,
      reasoning,
      inputBy: prompt.counts,
      outputBy: answer.counts,
      total: input !== undefined && output !== undefined && total === input + output ? undefined : total,
    }),
    ...nodeOf({ ...(Object.keys(all).length === 0 ? {} : { extras: all }), marks: { whole: wire } }),
  }
}

/** The tier of the answer, which is told among its counts. */
export function tierOf(wire: JsonObject): string | undefined {
  const tier = anyText(open(wire, KNOWN).fields['serviceTier'])?.toLowerCase()
  return tier === 'standard' ? 'default' : tier
}

function sum(a: Json | undefined, b: Json | undefined): number | undefined {
  const [first, second] = [anyNumeral(a), anyNumeral(b)]
  return first === undefined && second === undefined ? undefined : (first ?? 0) + (second ?? 0)
}

const MODALITIES: { readonly [modality: string]: Modality } = {
  TEXT: 'text',
  IMAGE: 'image',
  AUDIO: 'audio',
  VIDEO: 'video',
}

interface ByModality {
  readonly counts: { readonly [M in Modality]?: number } | undefined
  /** Entries of modalities nobody else tells apart. */
  readonly others: readonly JsonObject[] | undefined
}

function byModality(wire: Json | undefined): ByModality {
  const counts: { [M in Modality]?: number } = {}
  const others: JsonObject[] = []
  for (const entry of anyObjects(wire)) {
    const modality = anyText(entry['modality']) ?? ''
    const known = Object.hasOwn(MODALITIES, modality) ? MODALITIES[modality]! : undefined
    if (known === undefined) others.push(entry)
    else counts[known] = (counts[known] ?? 0) + (anyNumeral(entry['tokenCount'] ?? entry['token_count']) ?? 0)
  }
  return {
    counts: Object.keys(counts).length === 0 ? undefined : counts,
    others: others.length === 0 ? undefined : others,
  }
}

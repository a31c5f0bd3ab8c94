import type { Losses, Unwritten } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { Modality } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/result.ts'
import { defined, kept, spelt } from '../fields.ts'
import { FORMAT } from './types.ts'

const LOSSES: Unwritten<Usage, 'input' | 'output' | 'inputBy' | 'outputBy'> = {
  searches: 'no-count-of-searches',
  cacheRead: 'no-count-of-cached',
  cacheWrite: 'no-count-of-cached',
  reasoning: 'no-count-of-reasoning',
  hostedCalls: 'no-count-of-hosted-calls',
}
const UNCOUNTED: readonly Modality[] = ['audio', 'video', 'embedding']

/** The circumstances of an answer: whether it is of this format, and whether its request had texts only. */
export interface Counted {
  readonly native: boolean
  readonly textOnly: boolean
}

/** Tokens as the format counts them; both counts are required, so an unknown one becomes zero. */
export function writeUsage(original: Usage, losses: Losses, how: Counted): JsonObject {
  const whole = spelt(original, FORMAT)['whole']
  if (whole !== undefined) return whole as JsonObject
  losses.dropFields(original, ['usage'], LOSSES)
  const usage = how.native ? original : { ...original, ...byKind(original, losses, how) }
  const { input = 0, output = 0 } = usage
  for (const side of ['input', 'output'] as const)
    if (usage[side] === undefined) losses.add(['usage', side], 0, 'count-required')
  for (const side of ['inputBy', 'outputBy'] as const)
    for (const modality of UNCOUNTED)
      if (usage[side]?.[modality] !== undefined) losses.drop(['usage', side, modality], 'no-such-count')
  const { input_tokens_details, output_tokens_details, ...others } = kept(usage, FORMAT)
  return defined({
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_tokens_details: details(usage.inputBy, input_tokens_details as JsonObject | undefined),
    output_tokens_details: details(usage.outputBy, output_tokens_details as JsonObject | undefined),
    ...others,
  }) as JsonObject
}

/** Counts by modality have both text and image: a missing one is the remainder. */
function byKind(usage: Usage, losses: Losses, { textOnly }: Counted): Pick<Usage, 'inputBy' | 'outputBy'> {
  const sides = (['inputBy', 'outputBy'] as const).flatMap(side => {
    const { text, image } = usage[side] ?? {}
    if (text !== undefined && image !== undefined) return []
    const all = (side === 'inputBy' ? usage.input : usage.output) ?? 0
    const hasCounts = text !== undefined || image !== undefined
    if (!hasCounts && (side === 'outputBy' || !textOnly)) return []
    const both = { text: text ?? Math.max(0, all - (image ?? 0)), image: image ?? Math.max(0, all - (text ?? all)) }
    losses.add(['usage', side], both, 'both-kinds-required')
    return [[side, both] as const]
  })
  return Object.fromEntries(sides)
}

function details(by: Usage['inputBy'], extras: JsonObject | undefined): JsonObject | undefined {
  const fields = { ...defined({ text_tokens: by?.text, image_tokens: by?.image }), ...extras } as JsonObject
  return Object.keys(fields).length === 0 ? undefined : fields
}

import type { Losses, Unwritten } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { defined, kept, spelt } from '../fields.ts'

const FORMAT = 'transcriptions'

/** Tokens as a transcript's upstream counts them; seconds of audio only where it reported them itself. */
export function writeUsage(usage: Usage, losses: Losses): JsonObject {
  const whole = spelt(usage, FORMAT)['whole']
  if (whole !== undefined) return whole as JsonObject
  losses.dropFields(usage, ['usage'], LOSSES)
  const { text, audio, ...others } = usage.inputBy ?? {}
  for (const kind in others) losses.drop(['usage', 'inputBy', kind], 'no-such-count')
  const { input_token_details, ...extras } = kept(usage, FORMAT)
  const counts = defined({ text_tokens: text, audio_tokens: audio })
  return defined({
    type: 'tokens',
    input_tokens: usage.input,
    output_tokens: usage.output,
    total_tokens: (usage.input ?? 0) + (usage.output ?? 0),
    input_token_details: writeDetails(counts, input_token_details),
    ...extras,
  }) as JsonObject
}

const LOSSES: Unwritten<Usage, 'input' | 'output' | 'inputBy'> = {
  searches: 'no-count-of-searches',
  cacheRead: 'no-such-count',
  cacheWrite: 'no-such-count',
  reasoning: 'no-such-count',
  outputBy: 'no-such-count',
  hostedCalls: 'no-such-count',
}

function writeDetails(counts: JsonObject, left: Json | undefined): Json | undefined {
  if (left !== undefined && !isObject(left)) return left
  const details = { ...counts, ...left }
  return Object.keys(details).length > 0 ? details : undefined
}

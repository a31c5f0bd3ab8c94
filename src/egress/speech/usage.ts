import type { JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { defined, kept, spelt } from '../fields.ts'
import { FORMAT } from './containers.ts'

/** Tokens as an upstream of the format reported them; other upstreams' answers have no counts. */
export function writeUsage(usage: Usage): JsonObject {
  const whole = spelt(usage, FORMAT)['whole']
  if (whole !== undefined) return whole as JsonObject
  const { input, output } = usage
  const total = input === undefined || output === undefined ? undefined : input + output
  return {
    ...defined({ input_tokens: input, output_tokens: output, total_tokens: total }),
    ...kept(usage, FORMAT),
  } as JsonObject
}

/** The last event of a stream requires token counts: unknown ones are zero. */
export const filledUsage = (usage: Usage | undefined): JsonObject => writeUsage({ input: 0, output: 0, ...usage })

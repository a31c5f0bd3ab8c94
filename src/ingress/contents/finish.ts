import type { Part } from '../../canonical/content.ts'
import type { Json } from '../../canonical/node.ts'
import type { Finish, FinishReason } from '../../canonical/result.ts'

/** The upstreams' values (FORMATS §16.3, trap 15). */
const REASONS: { readonly [value: string]: FinishReason } = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  ...of('refused', 'SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'MODEL_ARMOR'),
  ...of('refused', 'IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT', 'IMAGE_OTHER', 'IMAGE_RECITATION'),
  ...of('error', 'MALFORMED_FUNCTION_CALL', 'MALFORMED_RESPONSE', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS'),
  ...of('error', 'MISSING_THOUGHT_SIGNATURE', 'ESCALATION', 'OTHER'),
  CONTINUATION: 'paused',
}

function of(reason: FinishReason, ...values: string[]): { [value: string]: FinishReason } {
  return Object.fromEntries(values.map(value => [value, reason]))
}

/** The values a writer would choose; another one is kept as spelling. */
const VALUES: { readonly [R in FinishReason]?: string } = {
  ...{ stop: 'STOP', 'tool-calls': 'STOP', length: 'MAX_TOKENS', refused: 'SAFETY' },
  ...{ paused: 'CONTINUATION', error: 'OTHER', other: 'FINISH_REASON_UNSPECIFIED' },
}

/** Google sends STOP also where calls were made (trap 13); an answer without a reason ended in an unknown way. */
export function readFinish(value: string | undefined, called: boolean): { finish: Finish; spelt: string | undefined } {
  if (value === undefined) return { finish: { reason: 'other' }, spelt: 'absent' }
  const known = Object.hasOwn(REASONS, value) ? REASONS[value]! : 'other'
  const reason = known === 'stop' && called ? 'tool-calls' : known
  return { finish: { reason, raw: value }, spelt: VALUES[reason] === value ? undefined : value }
}

/** The message of a refusal; that of any other finish stays in extras. */
export const refusalOf = ({ reason }: Finish, message: Json | undefined): (Part & { type: 'refusal' }) | undefined =>
  reason === 'refused' && typeof message === 'string' && message !== '' ? { type: 'refusal', text: message } : undefined

import type { Part } from '../../canonical/content.ts'
import type { Json } from '../../canonical/node.ts'
import type { Finish, FinishReason } from '../../canonical/result.ts'

/** What upstreams' words mean (FORMATS §16.3, trap 15). */
const REASONS: { readonly [word: string]: FinishReason } = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  ...of('refused', 'SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'MODEL_ARMOR'),
  ...of('refused', 'IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT', 'IMAGE_OTHER', 'IMAGE_RECITATION'),
  ...of('error', 'MALFORMED_FUNCTION_CALL', 'MALFORMED_RESPONSE', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS'),
  ...of('error', 'MISSING_THOUGHT_SIGNATURE', 'ESCALATION', 'OTHER'),
  CONTINUATION: 'paused',
}

function of(reason: FinishReason, ...words: string[]): { [word: string]: FinishReason } {
  return Object.fromEntries(words.map(word => [word, reason]))
}

/** The words a writer would choose; another one is kept as spelling. */
const WORDS: { readonly [R in FinishReason]?: string } = {
  ...{ stop: 'STOP', 'tool-calls': 'STOP', length: 'MAX_TOKENS', refused: 'SAFETY' },
  ...{ paused: 'CONTINUATION', error: 'OTHER', other: 'FINISH_REASON_UNSPECIFIED' },
}

/** Google says STOP also where calls were made (trap 13); an answer without a word ended some other way. */
export function readFinish(word: string | undefined, called: boolean): { finish: Finish; spelt: string | undefined } {
  if (word === undefined) return { finish: { reason: 'other' }, spelt: 'absent' }
  const known = Object.hasOwn(REASONS, word) ? REASONS[word]! : 'other'
  const reason = known === 'stop' && called ? 'tool-calls' : known
  return { finish: { reason, raw: word }, spelt: WORDS[reason] === word ? undefined : word }
}

/** Why the model refused, in words; the message of any other finish is the format's own. */
export const refusalOf = ({ reason }: Finish, message: Json | undefined): (Part & { type: 'refusal' }) | undefined =>
  reason === 'refused' && typeof message === 'string' && message !== '' ? { type: 'refusal', text: message } : undefined

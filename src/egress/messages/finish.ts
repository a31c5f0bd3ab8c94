import type { Losses } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { Candidate, Finish, FinishReason } from '../../canonical/result.ts'
import { kept, spelt } from '../fields.ts'
import { FORMAT } from './content.ts'

/** What of an answer's content bears on why it ended. */
export interface Said {
  readonly called: boolean
  readonly refused: boolean
}

const WORDS: { readonly [R in FinishReason]?: string } = {
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  paused: 'pause_turn',
  refused: 'refusal',
}

/**
 * Why an answer ended, as the format can say it: calls made are the reason (trap 13), a refusal is one (trap 16), and
 * a broken answer never looks finished (trap 15).
 */
function legalReason(reason: FinishReason, { called, refused }: Said): FinishReason {
  if (reason === 'error') return 'refused'
  if (reason !== 'stop' && reason !== 'other') return reason
  return called ? 'tool-calls' : refused ? 'refused' : 'stop'
}

/** `stop_reason`, `stop_sequence` and `stop_details`: all of them are required of us, the caller's own come as they came. */
export function writeStop(candidate: Omit<Candidate, 'content'>, said: Said, losses: Losses): JsonObject {
  const { own, word } = spelt(candidate, FORMAT)
  const { stop_details, ...others } = kept(candidate, FORMAT)
  if (own === true) return ownStop(candidate, word, kept(candidate, FORMAT))
  for (const field of Object.keys(others)) losses.drop(['candidates', 0, 'extras', FORMAT, field], 'no-place-for-it')
  const finish = candidate.finish ?? { reason: legalReason('stop', said) }
  if (candidate.finish === undefined) losses.add(['candidates', 0, 'finish'], { ...finish }, 'reason-required')
  const reason = legalReason(finish.reason, said)
  if (reason !== finish.reason) losses.change(['candidates', 0, 'finish', 'reason'], reason, 'no-such-finish')
  return {
    stop_reason: wordOf({ ...finish, reason }),
    stop_sequence: finish.stopSequence ?? null,
    stop_details: stop_details ?? null,
  }
}

const wordOf = ({ reason, stopSequence }: Finish): string =>
  WORDS[reason] ?? (stopSequence === undefined ? 'end_turn' : 'stop_sequence')

function ownStop({ finish }: Omit<Candidate, 'content'>, word: Json | undefined, others: JsonObject): JsonObject {
  if (finish === undefined) return others
  const stop_sequence = finish.stopSequence === undefined ? {} : { stop_sequence: finish.stopSequence }
  return { stop_reason: word ?? wordOf(finish), ...stop_sequence, ...others }
}

import type { Losses } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { Candidate, Finish, FinishReason } from '../../canonical/result.ts'
import { kept } from '../fields.ts'
import { FORMAT } from './content.ts'

/** The contents of an answer that determine why it ended. */
export interface EndContent {
  readonly called: boolean
  readonly refused: boolean
}

const STOP_REASONS: { readonly [R in FinishReason]?: string } = {
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  paused: 'pause_turn',
  refused: 'refusal',
}

/**
 * The finish reason in this format's terms: calls are a reason (trap 13), so is a refusal (trap 16), and an error never
 * looks like a finished answer (trap 15).
 */
function supportedReason(reason: FinishReason, { called, refused }: EndContent): FinishReason {
  if (reason === 'error') return 'refused'
  if (reason !== 'stop' && reason !== 'other') return reason
  return called ? 'tool-calls' : refused ? 'refused' : 'stop'
}

/** `stop_reason`, `stop_sequence` and `stop_details`, of which the gateway always writes all. */
export function writeStop(candidate: Omit<Candidate, 'content'>, content: EndContent, losses: Losses): JsonObject {
  const { stop_details, ...others } = kept(candidate, FORMAT)
  for (const field of Object.keys(others)) losses.drop(['candidates', 0, 'extras', FORMAT, field], 'no-place-for-it')
  const finish = candidate.finish ?? { reason: supportedReason('stop', content) }
  if (candidate.finish === undefined) losses.add(['candidates', 0, 'finish'], { ...finish }, 'reason-required')
  const reason = supportedReason(finish.reason, content)
  if (reason !== finish.reason) losses.change(['candidates', 0, 'finish', 'reason'], reason, 'no-such-finish')
  return {
    stop_reason: stopReasonOf({ ...finish, reason }),
    stop_sequence: finish.stopSequence ?? null,
    stop_details: stop_details ?? null,
  }
}

const stopReasonOf = ({ reason, stopSequence }: Finish): string =>
  STOP_REASONS[reason] ?? (stopSequence === undefined ? 'end_turn' : 'stop_sequence')

import type { Losses, Path } from '../../canonical/loss.ts'
import type { Candidate, FinishReason } from '../../canonical/result.ts'
import { spelt } from '../fields.ts'
import { FORMAT } from './fields.ts'

/** Google has no finish reason for calls (FORMATS §16.3). */
const FINISH_REASONS: { readonly [R in FinishReason]: string } = {
  stop: 'STOP',
  'tool-calls': 'STOP',
  length: 'MAX_TOKENS',
  refused: 'SAFETY',
  paused: 'CONTINUATION',
  error: 'OTHER',
  other: 'FINISH_REASON_UNSPECIFIED',
}

/** The finish reason, or undefined where the upstream gave none. */
export function writeFinish({ finish, ...node }: Pick<Candidate, 'finish' | 'spelling'>): string | undefined {
  const own = spelt(node, FORMAT)['finishReason']
  if (own === 'absent') return undefined
  if (typeof own === 'string') return own
  return FINISH_REASONS[finish?.reason ?? 'stop']
}

/** The finish reason of a stream, which is required: clients take a stream without one for cut off. */
export const writeStreamFinish = (candidate: Pick<Candidate, 'finish' | 'spelling'>): string =>
  writeFinish(candidate) ?? FINISH_REASONS.other

export function reportFinish(candidate: Candidate, path: Path, losses: Losses): void {
  const { finish, content } = candidate
  const called = content.some(part => part.type === 'tool-call')
  const stop = called ? 'tool-calls' : 'stop'
  const own = spelt(candidate, FORMAT)
  if (own['finishReason'] !== undefined || own['blocked'] !== undefined) return
  if (finish === undefined) return losses.add([...path, 'finish'], { reason: stop }, 'finish-required')
  if (finish.stopSequence !== undefined) losses.drop([...path, 'finish', 'stopSequence'], 'no-stop-sequence')
  const read = FINISH_REASONS[finish.reason] === 'STOP' ? stop : finish.reason
  if (read !== finish.reason) losses.change([...path, 'finish', 'reason'], read, 'calls-tell-the-finish')
}

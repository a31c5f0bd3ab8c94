import type { Losses, Path, Unwritten } from '../../canonical/loss.ts'
import type { Json } from '../../canonical/node.ts'
import type { Candidate, Finish, FinishReason } from '../../canonical/result.ts'
import { spelt } from '../fields.ts'
import { FORMAT } from './prompt.ts'

const FINISH_REASONS: { readonly [R in FinishReason]: 'stop' | 'length' | 'content_filter' } = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'stop',
  refused: 'content_filter',
  paused: 'stop',
  error: 'content_filter',
  other: 'stop',
}

/** How the values above are read. */
const MEANINGS = { stop: 'stop', length: 'length', content_filter: 'refused' } as const

/** The finish reason; an error never looks like a finished answer (trap 15). */
export function writeFinish({ finish, ...node }: Pick<Candidate, 'finish' | 'spelling'>): Json {
  const own = spelt(node, FORMAT)['finish']
  if (own !== undefined) return own === 'absent' ? null : own
  return finish === undefined ? null : FINISH_REASONS[finish.reason]
}
const FINISH_LOSSES: Unwritten<Finish, 'reason' | 'raw'> = { stopSequence: 'no-stop-sequence' }

export function reportFinish(candidate: Candidate, path: Path, losses: Losses): void {
  const { finish } = candidate
  if (finish === undefined || spelt(candidate, FORMAT)['finish'] !== undefined) return
  losses.dropFields(finish, [...path, 'finish'], FINISH_LOSSES)
  const meaning = MEANINGS[FINISH_REASONS[finish.reason]]
  if (meaning !== finish.reason) losses.change([...path, 'finish', 'reason'], meaning, 'no-such-finish')
}

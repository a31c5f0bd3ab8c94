import type { Losses, Path } from '../../canonical/loss.ts'
import type { Candidate, FinishReason } from '../../canonical/result.ts'
import { spelt } from '../fields.ts'
import { FORMAT } from './content.ts'

const FINISH_REASONS: { readonly [R in FinishReason]: string } = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  refused: 'content_filter',
  paused: 'stop',
  error: 'content_filter',
  other: 'stop',
}

/** How the values above are read. */
const MEANINGS: { readonly [value: string]: FinishReason } = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool-calls',
  content_filter: 'refused',
}

/**
 * The finish reason; with calls it is always `tool_calls` (trap 13), and an error never looks like a finished answer
 * (trap 15).
 */
export function writeFinish({ finish, ...node }: Pick<Candidate, 'finish' | 'spelling'>, called: boolean): string {
  const own = spelt(node, FORMAT)['finish']
  if (typeof own === 'string') return own
  const value = FINISH_REASONS[finish?.reason ?? 'stop']
  return value === 'stop' && called ? 'tool_calls' : value
}

/** The finish reason of a stream, which is required: clients take a stream without one for broken. */
export function streamedFinish(event: Pick<Candidate, 'finish' | 'spelling'>, called: boolean): string {
  const own = spelt(event, FORMAT)['finish']
  return writeFinish(own === '' || own === 'absent' ? { ...event, spelling: {} } : event, called)
}

export function reportFinish(candidate: Candidate, value: string, path: Path, losses: Losses): void {
  const { finish } = candidate
  if (finish === undefined) return losses.add([...path, 'finish'], { reason: MEANINGS[value] }, 'reason-required')
  if (finish.stopSequence !== undefined) losses.drop([...path, 'finish', 'stopSequence'], 'no-stop-sequence')
  const meaning = MEANINGS[value]
  if (spelt(candidate, FORMAT)['finish'] === undefined && meaning !== finish.reason)
    losses.change([...path, 'finish', 'reason'], meaning, 'no-such-finish')
}

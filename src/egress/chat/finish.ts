import type { Losses, Path } from '../../canonical/loss.ts'
import type { Candidate, FinishReason } from '../../canonical/result.ts'
import { spelt } from '../fields.ts'
import { FORMAT } from './content.ts'

const WORDS: { readonly [R in FinishReason]: string } = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  refused: 'content_filter',
  paused: 'stop',
  error: 'content_filter',
  other: 'stop',
}

/** How the words above are read back. */
const MEANINGS: { readonly [word: string]: FinishReason } = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool-calls',
  content_filter: 'refused',
}

/** The finish word; calls made are always the reason (trap 13), and a broken answer never looks finished (trap 15). */
export function writeFinish({ finish, ...node }: Pick<Candidate, 'finish' | 'spelling'>, called: boolean): string {
  const own = spelt(node, FORMAT)['finish']
  if (typeof own === 'string') return own
  const word = WORDS[finish?.reason ?? 'stop']
  return word === 'stop' && called ? 'tool_calls' : word
}

/** The finish word of a stream, which always has one: clients take a stream without for one that broke. */
export function streamedFinish(event: Pick<Candidate, 'finish' | 'spelling'>, called: boolean): string {
  const own = spelt(event, FORMAT)['finish']
  return writeFinish(own === '' || own === 'absent' ? { ...event, spelling: {} } : event, called)
}

export function reportFinish(candidate: Candidate, word: string, path: Path, losses: Losses): void {
  const { finish } = candidate
  if (finish === undefined) return losses.add([...path, 'finish'], { reason: MEANINGS[word] }, 'reason-required')
  if (finish.stopSequence !== undefined) losses.drop([...path, 'finish', 'stopSequence'], 'no-stop-sequence')
  const meaning = MEANINGS[word]
  if (spelt(candidate, FORMAT)['finish'] === undefined && meaning !== finish.reason)
    losses.change([...path, 'finish', 'reason'], meaning, 'no-such-finish')
}

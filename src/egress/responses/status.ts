import type { Losses, Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { Candidate, Finish, FinishReason } from '../../canonical/result.ts'

/** What an answer is made of, as far as its state depends on it. */
export interface Made {
  called: boolean
  refused: boolean
}

export type State = { readonly status: string; readonly incomplete_details: JsonObject | null }

const COMPLETED: State = { status: 'completed', incomplete_details: null }
const FAILED: State = { status: 'failed', incomplete_details: null }
const incomplete = (reason: string): State => ({ status: 'incomplete', incomplete_details: { reason } })

/** The state an answer ended in (FORMATS §16.3, trap 14). A refusal that was spoken is a complete answer. */
export function writeState(finish: Finish | undefined, made: Made): State {
  switch (finish?.reason) {
    case 'length':
      return incomplete('max_output_tokens')
    case 'refused':
      return made.refused && !made.called ? COMPLETED : incomplete('content_filter')
    case 'error':
      return FAILED
    default:
      return COMPLETED
  }
}

export const madeOf = ({ content }: Candidate): Made => ({
  called: content.some(part => part.type === 'tool-call'),
  refused: content.some(part => part.type === 'refusal'),
})

/** How a complete answer is read back. */
export const meaningOf = ({ called, refused }: Made): FinishReason =>
  called ? 'tool-calls' : refused ? 'refused' : 'stop'

export function reportFinish({ finish }: Candidate, made: Made, path: Path, losses: Losses): void {
  const at = [...path, 'finish']
  if (finish === undefined) {
    losses.add(at, { reason: meaningOf(made) }, 'finish-required')
    return
  }
  if (finish.stopSequence !== undefined) losses.drop([...at, 'stopSequence'], 'no-stop-sequence')
  if (writeState(finish, made).status !== 'completed') return
  const reason = meaningOf(made)
  if (finish.reason !== reason) losses.change([...at, 'reason'], reason, 'no-such-finish')
}

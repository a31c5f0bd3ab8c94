import type { Losses, Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { Candidate, Finish, FinishReason } from '../../canonical/result.ts'

/** The contents of an answer that determine its state. */
export interface EndContent {
  called: boolean
  refused: boolean
}

export type ResponseState = { readonly status: string; readonly incomplete_details: JsonObject | null }

const COMPLETED: ResponseState = { status: 'completed', incomplete_details: null }
const FAILED: ResponseState = { status: 'failed', incomplete_details: null }
const incomplete = (reason: string): ResponseState => ({ status: 'incomplete', incomplete_details: { reason } })

/** The final state of an answer (FORMATS §16.3, trap 14). A refusal in the content is a completed answer. */
export function writeState(finish: Finish | undefined, content: EndContent): ResponseState {
  switch (finish?.reason) {
    case 'length':
      return incomplete('max_output_tokens')
    case 'refused':
      return content.refused && !content.called ? COMPLETED : incomplete('content_filter')
    case 'error':
      return FAILED
    default:
      return COMPLETED
  }
}

export const endContentOf = ({ content }: Candidate): EndContent => ({
  called: content.some(part => part.type === 'tool-call'),
  refused: content.some(part => part.type === 'refusal'),
})

/** The finish reason as which a completed answer is read. */
export const finishReasonOf = ({ called, refused }: EndContent): FinishReason =>
  called ? 'tool-calls' : refused ? 'refused' : 'stop'

export function reportFinish({ finish }: Candidate, content: EndContent, path: Path, losses: Losses): void {
  const at = [...path, 'finish']
  if (finish === undefined) {
    losses.add(at, { reason: finishReasonOf(content) }, 'finish-required')
    return
  }
  if (finish.stopSequence !== undefined) losses.drop([...at, 'stopSequence'], 'no-stop-sequence')
  if (writeState(finish, content).status !== 'completed') return
  const reason = finishReasonOf(content)
  if (finish.reason !== reason) losses.change([...at, 'reason'], reason, 'no-such-finish')
}

import type { Losses, Path, Unwritten } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { TokenLogprob } from '../../canonical/result.ts'
import { withExtras } from './fields.ts'

/** The chosen tokens and, where any are reported, the most likely alternatives at each step. */
export function writeLogprobs(logprobs: readonly TokenLogprob[]): JsonObject {
  const rivals = logprobs.some(({ top }) => top !== undefined && top.length > 0)
  return {
    chosenCandidates: logprobs.map(writeToken),
    ...(rivals ? { topCandidates: logprobs.map(({ top }) => ({ candidates: (top ?? []).map(writeToken) })) } : {}),
  }
}

const writeToken = ({ token, logprob, ...node }: TokenLogprob): JsonObject =>
  withExtras(node, { token, logProbability: logprob })
const LOGPROB_LOSSES: Unwritten<TokenLogprob, 'token' | 'logprob' | 'top'> = { bytes: 'no-bytes-of-tokens' }

export function reportLogprobs(logprobs: readonly TokenLogprob[] | undefined, path: Path, losses: Losses): void {
  logprobs?.forEach((token, index) => {
    losses.dropFields(token, [...path, index], LOGPROB_LOSSES)
    reportLogprobs(token.top, [...path, index, 'top'], losses)
  })
}

import type { Losses, Path, Unwritten } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { TokenLogprob } from '../../canonical/result.ts'
import { spelt } from '../fields.ts'
import { FORMAT } from './prompt.ts'

/**
 * Tokens as the four parallel lists of a choice (FORMATS §3); `from` is the first token's offset in the choice's text.
 */
export function writeLogprobs(tokens: readonly TokenLogprob[], from: number): JsonObject {
  let offset = from
  const text_offset = tokens.map(one => {
    const at = offset
    offset += one.token.length
    return spelt(one, FORMAT)['offset'] ?? at
  })
  return {
    tokens: tokens.map(({ token }) => token),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    top_logprobs: tokens.map(({ top }) => (top === undefined ? null : rivals(top))),
    text_offset,
  }
}

/** Alternatives are an object by token text: of equal texts only one is written. */
const rivals = (top: readonly TokenLogprob[]): Json =>
  Object.fromEntries(top.toReversed().map(({ token, logprob }) => [token, logprob]))
const LOGPROB_LOSSES: Unwritten<TokenLogprob, 'token' | 'logprob' | 'top'> = { bytes: 'no-bytes-of-tokens' }

/** Reports fields that the lists have no place for. */
export function reportLogprobs(tokens: readonly TokenLogprob[], path: Path, losses: Losses): void {
  for (const [index, token] of tokens.entries()) {
    losses.dropFields(token, [...path, index], LOGPROB_LOSSES)
    if (token.top !== undefined) reportRivals(token.top, [...path, index, 'top'], losses)
  }
}

function reportRivals(top: readonly TokenLogprob[], path: Path, losses: Losses): void {
  const first = new Map<string, number>()
  for (const [index, { token }] of top.entries()) if (!first.has(token)) first.set(token, index)
  const written = new Set(first.values())
  for (const [index, rival] of top.entries()) {
    if (!written.has(index)) losses.drop([...path, index], 'told-already')
    else losses.dropFields(rival, [...path, index], { bytes: 'no-bytes-of-tokens', top: 'no-rivals-of-rivals' })
  }
  const read = Object.keys(rivals(top) as JsonObject)
    .map(token => first.get(token)!)
    .sort((a, b) => top[b]!.logprob - top[a]!.logprob)
  const order = [...read, ...top.keys().filter(index => !written.has(index))]
  if (order.some((from, to) => from !== to)) losses.move(path, order, 'the-likeliest-first')
}

import type { Json, JsonObject } from '../../canonical/node.ts'
import type { TokenLogprob } from '../../canonical/result.ts'
import { anyObjects, anyText, extrasOf } from '../fields.ts'
import { FORMAT } from './wire.ts'

const TOKEN = new Set(['text', 'logprobs'])

/** Reads the log probabilities of text chunks. Returns undefined if the value is not a list. */
export const readLogprobs = (wire: Json | undefined): readonly TokenLogprob[] | undefined =>
  Array.isArray(wire) ? anyObjects(wire).map(readLogprob) : undefined

/**
 * Reads the log probability of a chunk. If a chunk has several tokens, their log probabilities are added up, and the
 * individual values become an extra (docs/wire/cohere-chat.md#log-probabilities).
 */
export function readLogprob(wire: JsonObject): TokenLogprob {
  const { logprobs, token_ids: ids } = wire
  const values = Array.isArray(logprobs) ? logprobs.filter(one => typeof one === 'number') : []
  const unreadFields = values.length === 1 ? undefined : ['logprobs']
  const { token_ids: _, ...others } = wire
  return {
    token: anyText(wire['text']) ?? '',
    logprob: values.reduce((sum, one) => sum + one, 0),
    ...extrasOf(FORMAT, Array.isArray(ids) && ids.length === 0 ? others : wire, TOKEN, unreadFields),
  }
}

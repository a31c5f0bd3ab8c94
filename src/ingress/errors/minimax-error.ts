import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { anyText } from '../fields.ts'

/**
 * HTTP statuses by the codes of MiniMax (platform.minimax.io/docs/api-reference/errorcode, read 2026-12-01). Any other
 * code is a failure of the upstream.
 */
const STATUSES: ReadonlyMap<Json | undefined, number> = new Map<Json | undefined, number>([
  [1001, 504],
  [1002, 429],
  [1004, 401],
  [1008, 402],
  [1026, 400],
  [1027, 400],
  [1039, 429],
  [2013, 400],
  [2049, 401],
  [2056, 429],
])

/**
 * Returns an answer or chunk of MiniMax that has an error instead of choices in OpenAI's form, else undefined. MiniMax
 * states the error in `base_resp`, under status 200 (github.com/infiniflow/ragflow#17292, read 2026-12-01).
 */
export function minimaxError({ base_resp, choices }: JsonObject): JsonObject | undefined {
  const isEmpty = !Array.isArray(choices) || choices.length === 0
  if (!isObject(base_resp) || !isEmpty) return undefined
  const { status_code, status_msg } = base_resp
  if (typeof status_code !== 'number' || status_code === 0) return undefined
  const message = anyText(status_msg) ?? `MiniMax answered with the code ${status_code}.`
  return { error: { message, status: STATUSES.get(status_code) ?? 502 } }
}

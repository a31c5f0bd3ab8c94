import { GatewayError } from '../../canonical/error.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { defined } from '../fields.ts'
import { readInnerError } from './error.ts'
import { anyNumeral, nodeOf, open, remainsOf } from './fields.ts'
import { readUsage } from './usage.ts'

/** Whether a method counts tokens and answers nothing. */
export const counts = (method: string): boolean => method === 'countTokens'

const WRAPPER = new Set(['generateContentRequest'])

/**
 * The request to count the tokens of (FORMATS §7): all of it in `generateContentRequest`, or some of its fields in the
 * body itself. What stands around the wrapped one is kept beside `count`.
 */
export function unwrapped(body: JsonObject, read: (body: JsonObject) => CanonicalRequest): CanonicalRequest {
  const opened = open(body, WRAPPER)
  const inner = opened.fields['generateContentRequest']
  const request = read(isObject(inner) ? inner : body)
  const around = isObject(inner) ? nodeOf(remainsOf(opened, WRAPPER, { wrapped: true })) : {}
  return { ...request, output: { ...request.output, count: true, ...around } }
}

const COUNT = new Set([
  ...['totalTokens', 'cachedContentTokenCount', 'promptTokensDetails', 'cacheTokensDetails', 'totalBillableCharacters'],
])
const TAKEN = new Set(['totalTokens', 'cachedContentTokenCount', 'promptTokensDetails'])

/** `{totalTokens, …}` of `:countTokens`; how it was written is kept whole, as with the counts of an answer. */
export function readCounted({ body }: WireAnswer): CanonicalResult {
  const opened = open(body, COUNT)
  const { totalTokens, cachedContentTokenCount, promptTokensDetails } = opened.fields
  // A count of 0 is left out (proto3 JSON).
  const input = totalTokens === undefined && isCount(opened.fields) ? 0 : anyNumeral(totalTokens)
  if (input === undefined) throw new GatewayError(body['error'] == null ? NOT_A_COUNT : readInnerError(body))
  const { inputBy } = readUsage(defined({ promptTokensDetails }) as JsonObject)
  return {
    candidates: [],
    usage: { input, ...defined({ cacheRead: anyNumeral(cachedContentTokenCount), inputBy }) },
    ...nodeOf({ ...remainsOf(opened, TAKEN), marks: { whole: body } }),
  }
}

/** A body without any field of a count, but with others, is none. */
const isCount = (fields: JsonObject): boolean =>
  Object.keys(fields).length === 0 || Object.keys(fields).some(field => COUNT.has(field))

const NOT_A_COUNT = { kind: 'upstream-failed', message: 'The upstream sent something that is no count.' } as const

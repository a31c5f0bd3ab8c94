import { isObject, type JsonObject, withOrigin } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { noAnswer } from '../errors/faulty-answer.ts'
import { readInnerError } from '../errors/google-error.ts'
import { defined, text, WrongType } from '../fields.ts'
import { checkModel } from './address.ts'
import { anyNumeral, FORMAT, leftOf, open, WRAPPER } from './fields.ts'
import { readUsage } from './usage.ts'

/** Whether a method counts tokens and answers nothing. */
export const counts = (method: string): boolean => method === 'countTokens'

const AROUND = new Set([...WRAPPER, 'model'])

/**
 * The request to count the tokens of (docs/wire/contents.md#token-counting): all of it in `generateContentRequest`, or
 * some of its fields in the body itself. What stands around the wrapped one is kept beside `count`. A second one in the
 * other spelling is refused: nothing here would look into it.
 */
export function unwrapped(
  body: JsonObject,
  model: string,
  read: (body: JsonObject) => CanonicalRequest,
): CanonicalRequest {
  const fields = open(body, WRAPPER)
  if (fields['generate_content_request'] != null) throw WrongType.instance
  const inner = fields['generateContentRequest']
  checkModel(text(fields['model']), model)
  const request = read(isObject(inner) ? inner : body)
  const around = isObject(inner) ? leftOf(fields, AROUND) : {}
  return { ...request, output: { ...request.output, count: true, ...around } }
}

const COUNT = new Set([
  ...['totalTokens', 'cachedContentTokenCount', 'promptTokensDetails', 'cacheTokensDetails', 'totalBillableCharacters'],
])
const TAKEN = new Set(['totalTokens', 'cachedContentTokenCount', 'promptTokensDetails'])

/** `{totalTokens, …}` of `:countTokens`. */
export function readCounted({ body }: WireAnswer): CanonicalResult {
  const fields = open(body, COUNT)
  const { totalTokens, cachedContentTokenCount, promptTokensDetails } = fields
  // A count of 0 is left out (proto3 JSON).
  const input = totalTokens === undefined && isCount(fields) ? 0 : anyNumeral(totalTokens)
  if (input === undefined) throw noAnswer(body, 'is no count', readInnerError)
  const { inputBy } = readUsage(defined({ promptTokensDetails }) as JsonObject)
  const usage = { input, ...defined({ cacheRead: anyNumeral(cachedContentTokenCount), inputBy }) }
  return withOrigin({ candidates: [], usage, ...leftOf(fields, TAKEN) }, FORMAT, body)
}

/** A body without any field of a count, but with others, is none. */
const isCount = (fields: JsonObject): boolean =>
  Object.keys(fields).length === 0 || Object.keys(fields).some(field => COUNT.has(field))

import { isObject, type JsonObject, withWireSource } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { faultyAnswer } from '../errors/faulty-answer.ts'
import { readInnerError } from '../errors/google-error.ts'
import { defined, text, WrongType } from '../fields.ts'
import { checkModel } from './address.ts'
import { anyNumeral, contentsExtras, FORMAT, inCamelCase, WRAPPER } from './fields.ts'
import { readUsage } from './usage.ts'

/** Returns true if a method counts tokens instead of generating an answer. */
export const counts = (method: string): boolean => method === 'countTokens'

const OUTER_FIELDS = new Set([...WRAPPER, 'model'])

/**
 * Returns the request whose tokens are counted (docs/wire/contents.md#token-counting): either `generateContentRequest`,
 * or fields of the body itself. Fields next to the wrapped request become extras of the output. A second wrapped
 * request in snake_case is refused, because it would be ignored.
 *
 * @throws WrongType.
 */
export function readWrapped(
  body: JsonObject,
  model: string,
  read: (body: JsonObject) => CanonicalRequest,
): CanonicalRequest {
  const fields = inCamelCase(body, WRAPPER)
  if (fields['generate_content_request'] != null) throw WrongType.instance
  const inner = fields['generateContentRequest']
  checkModel(text(fields['model']), model)
  const request = read(isObject(inner) ? inner : body)
  const siblings = isObject(inner) ? contentsExtras(fields, OUTER_FIELDS) : {}
  return { ...request, output: { ...request.output, count: true, ...siblings } }
}

const COUNT = new Set([
  ...['totalTokens', 'cachedContentTokenCount', 'promptTokensDetails', 'cacheTokensDetails', 'totalBillableCharacters'],
])
const KNOWN_FIELDS = new Set(['totalTokens', 'cachedContentTokenCount', 'promptTokensDetails'])

/**
 * Reads the answer of `:countTokens`, `{totalTokens, …}`.
 *
 * @throws GatewayError for any other body.
 */
export function readCounted({ body }: WireAnswer): CanonicalResult {
  const fields = inCamelCase(body, COUNT)
  const { totalTokens, cachedContentTokenCount, promptTokensDetails } = fields
  // proto3 JSON omits a count of 0.
  const input = totalTokens === undefined && isCount(fields) ? 0 : anyNumeral(totalTokens)
  if (input === undefined) throw faultyAnswer(body, 'is not a token count', readInnerError)
  const { inputBy } = readUsage(defined({ promptTokensDetails }) as JsonObject)
  const usage = { input, ...defined({ cacheRead: anyNumeral(cachedContentTokenCount), inputBy }) }
  return withWireSource({ candidates: [], usage, ...contentsExtras(fields, KNOWN_FIELDS) }, FORMAT, body)
}

/** Returns true if a body is a token count: an empty object, or an object with a field of token counts. */
const isCount = (fields: JsonObject): boolean =>
  Object.keys(fields).length === 0 || Object.keys(fields).some(field => COUNT.has(field))

import { GatewayError, invalid, upstreamFailed } from '../../canonical/error.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'

/** Maximum depth of nested lists and objects in a body. `JSON.stringify` fails at a few thousand. */
const MAX_LEVELS = 1000

/** Checks that the body of a request is an object that JSON can represent. */
export function checkedRequest(body: unknown): JsonObject {
  const fault = faultOf(body)
  if (fault !== undefined) throw invalid(`The body ${fault}.`)
  return body as JsonObject
}

/** Checks that the body of an answer is an object that JSON can represent. */
export function checkedAnswer(body: unknown): JsonObject {
  const fault = faultOf(body)
  if (fault !== undefined) throw new GatewayError(upstreamFailed(`The body of the answer ${fault}.`))
  return body as JsonObject
}

/** Returns the body of an error, or an empty object for a value that is not an object or that JSON cannot represent. */
export const errorBody = (body: unknown): JsonObject => (faultOf(body) === undefined ? (body as JsonObject) : {})

function faultOf(body: unknown): string | undefined {
  if (!isObject(body as Json)) return 'must be an object'
  return levelsOf(body, new Map()) > MAX_LEVELS
    ? `has more than ${MAX_LEVELS} levels of nested lists and objects, or contains itself`
    : undefined
}

/**
 * Counts the levels of a value. Visits each object once. An object that contains itself has infinitely many levels.
 *
 * @param visited levels of the objects visited so far, with infinity for objects that contain the value.
 */
function levelsOf(value: unknown, visited: Map<object, number>, ancestors = 0): number {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return 0
  const found = visited.get(value)
  if (found !== undefined || ancestors > MAX_LEVELS) return found ?? Infinity
  visited.set(value, Infinity)
  let levels = 0
  for (const item of Object.values(value)) levels = Math.max(levels, levelsOf(item, visited, ancestors + 1))
  visited.set(value, levels + 1)
  return levels + 1
}

import * as v from 'valibot'
import { GatewayError } from '../canonical/error.ts'
import type { JsonObject } from '../canonical/node.ts'
import { WrongType } from './fields.ts'

/**
 * Runs a reader over a caller's body. Reading is cheap and only knows that something is wrong; the schema then says
 * what. Both must come to the same verdict, which a law checks.
 */
export function explained<T>(schema: v.GenericSchema, body: JsonObject, read: () => T): T {
  try {
    return read()
  } catch (thrown) {
    if (thrown instanceof WrongType) throw invalid(schema, body)
    throw thrown
  }
}

function invalid(schema: v.GenericSchema, body: JsonObject): GatewayError {
  const issue = v.safeParse(schema, body, { abortEarly: true }).issues?.[0]
  const param = issue === undefined ? undefined : v.getDotPath(issue)
  const message =
    issue === undefined ? 'A field of the request has the wrong type.' : `${param ?? 'body'}: ${issue.message}`
  return new GatewayError({ kind: 'invalid-request', message, ...(param == null ? {} : { param }) })
}

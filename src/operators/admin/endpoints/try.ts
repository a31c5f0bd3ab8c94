import * as v from 'valibot'
import type { Caller } from '../../../accounts/index.ts'
import { GatewayError } from '../../../canonical/error.ts'
import type { JsonObject } from '../../../canonical/node.ts'
import { fields, mapOf, oneOf, text, word } from '../../../config/schema.ts'
import { CALLER_FORMATS } from '../../../formats/index.ts'
import type { Administration } from '../administration.ts'
import { type Endpoint, endpoint, type LiveAnswer } from '../endpoint.ts'
import { invalidInput } from '../problem.ts'
import { routeOf, trialCall } from '../trial-call.ts'

const json = mapOf(v.unknown()) as v.GenericSchema<JsonObject>

const tryRequest = endpoint({
  method: 'post',
  path: '/try',
  operation: 'tryRequest',
  summary:
    'Sends a request to a model endpoint with the permissions, limits and usage of a key. Passes the answer through; its status is in the header x-interlingua-status.',
  body: fields({
    key: word,
    format: oneOf([...CALLER_FORMATS.keys()]),
    path: v.optional(text(2000, '/')),
    headers: v.optional(mapOf(text(1000))),
    body: json,
  }),
  live: ['application/json', 'text/event-stream', 'application/octet-stream'],
  handle: (gateway, { body: tried }): LiveAnswer => {
    const caller = callerOf(gateway, tried.key)
    const { path, headers, ...rest } = tried
    const request = { ...rest, ...(path === undefined ? {} : { path }), ...(headers === undefined ? {} : { headers }) }
    const route = routeOf(request, gateway.config.tasks.vendorPath)
    return exchange => gateway.handle(trialCall(request, route, caller, exchange))
  },
})

/**
 * Finds the caller for a key. An invalid key is reported as invalid input rather than 401, which would sign the
 * administrator out.
 */
function callerOf(gateway: Administration, key: string): Caller {
  try {
    return gateway.callerOf(key)
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.error.kind !== 'overloaded')
      throw invalidInput({ pointer: '/key', detail: 'there is no valid key with this id' })
    throw thrown
  }
}

/** The endpoint that sends a trial request from the console. */
export const TRY: readonly Endpoint[] = [tryRequest]

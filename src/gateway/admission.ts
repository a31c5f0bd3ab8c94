import { type Access, type Allowance, type Caller, checkDoor } from '../access/index.ts'
import type { Limits } from '../access/limits/index.ts'
import type { Format } from '../canonical/node.ts'
import type { Call } from './call.ts'
import { RateHeaders } from './rate-headers.ts'

/**
 * The caller whose key a request carries.
 *
 * @param door the format of its endpoint, where it is the endpoint of one.
 * @throws GatewayError `unauthenticated`, or `forbidden` where the door is closed to the key.
 */
export function authenticate(
  access: Access,
  { as, message: { headers }, queryKey }: Pick<Call, 'message' | 'queryKey' | 'as'>,
  door?: Format,
): Caller {
  const caller = as ?? access.identify({ headers, queryKey })
  if (door !== undefined) checkDoor(caller.permissions, door)
  return caller
}

/** A request's share in the limits of its key; the headers of its answer state what is left of them. */
export function allowanceOf(
  limits: Limits,
  caller: Caller,
  { reply, format }: Pick<Call, 'reply' | 'format'>,
): Allowance {
  const allowance = limits.of(caller.id, caller.permissions.limits)
  reply.headers = new RateHeaders(allowance, format)
  return allowance
}

import { type Access, type Allowance, type Caller, checkDoor } from '../access/index.ts'
import type { Limits } from '../access/limits/index.ts'
import type { Format } from '../canonical/node.ts'
import { WRITERS } from '../egress/index.ts'
import { addRateLimits } from '../egress/transport/rate-limit.ts'
import type { Call, HeaderSource } from './call.ts'
import type { Outcome } from './report.ts'

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
  reply.rateHeaders = new RateHeaders(allowance, format)
  return allowance
}

/** Counts what a request used: what its upstream counted, else about as much as was expected or came. */
export function settle(allowance: Allowance, { spent, seen, row }: Outcome): void {
  if (spent === undefined) allowance.settleUncounted(seen)
  else allowance.settle(spent, row.cost)
}

/** What is left of a key's limits, as headers of the caller's format. */
class RateHeaders implements HeaderSource {
  private readonly allowance: Allowance
  private readonly format: Format

  constructor(allowance: Allowance, format: Format) {
    this.allowance = allowance
    this.format = format
  }

  addTo(head: { [name: string]: string }): void {
    const add = WRITERS[this.format]!.addRateLimits ?? addRateLimits
    add(head, this.allowance.left, Date.now())
  }
}

import type { Loss } from '../canonical/loss.ts'
import type { Format } from '../canonical/node.ts'
import { repairedHistory } from '../canonical/repaired-history.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { WireRequest } from '../canonical/wire.ts'
import { markDefaults } from '../egress/defaults.ts'
import { WRITERS } from '../egress/index.ts'
import { preparedFor, writeOptionsFor } from './wire-text.ts'

/** A request in a wire format, and the losses with their paths in the canonical request. */
export interface WrittenRequest {
  readonly wire: WireRequest
  readonly losses: readonly Loss[]
}

/** Writes a request of one format in another as the gateway does, with its history repaired. */
export function writtenRequest(request: CanonicalRequest, from: Format, to: Format): WrittenRequest {
  const { history, losses } = repairedHistory(preparedFor(to, request), from === to)
  const wireRequest = WRITERS[to]!.request!(history, writeOptionsFor(from, to, request.model))
  return { wire: wireRequest.wire, losses: markDefaults(losses(wireRequest.losses), request) }
}

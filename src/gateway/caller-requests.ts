import type { Caller } from '../accounts/index.ts'
import { forbidden } from '../canonical/error.ts'
import type { Format, JsonObject } from '../canonical/node.ts'
import { requestId } from '../store/usage/request-id.ts'
import type { Abortable, Call, Reply } from './call.ts'

/** A request that an administrator sends on a caller's behalf. */
export interface CallerRequest {
  /** Path of an endpoint. */
  readonly path: string
  readonly query: { readonly [name: string]: string }
  readonly headers: { readonly [name: string]: string }
  readonly body: JsonObject
  readonly as: Caller
  /** Id of the captured request that this one resends. */
  readonly repeats?: string
}

/** Sends requests through the endpoints on behalf of a caller. */
export interface CallerRequests {
  /**
   * Starts a request.
   *
   * @returns its id, and a promise that settles when it is over.
   * @throws GatewayError `not-found` if no endpoint has the path.
   */
  send(request: CallerRequest, reply: Reply): { readonly id: string; readonly over: Promise<void> }
}

/** Restricts a caller to one channel. Throws GatewayError `forbidden` if the key may not use the channel. */
export function forcedTo(caller: Caller, channel: string): Caller {
  const { permissions } = caller
  if (!permissions.allowsChannel(channel)) throw forbidden('The key may not use this channel.')
  return { ...caller, permissions: { ...permissions, allowsChannel: name => name === channel } }
}

/** Creates a call whose request is already in canonical form, so that no endpoint reads a body. */
export const gatewayCall = (format: Format, path: string, message: Call['message'], reply: Reply): Call => ({
  ...{ id: requestId(), format, path, message, framing: 'lines', fromGateway: true, reply },
  ...{ route: { format, path, below: '', mark: '', headers: [] }, head: { headers: {}, query: {} } },
})

/** Fields of an `Incoming` that the gateway's own requests never have. */
export const NO_STATE = {
  trailing: undefined,
  responseChain: undefined,
  drop: undefined,
  submission: undefined,
  capture: undefined,
} as const

/** A reply that discards the answer. */
export class NoReply implements Reply {
  readonly gone = false
  started = false
  abortable: Abortable | undefined
  whole(): void {
    this.started = true
  }
  begin(): void {
    this.started = true
  }
  write(): boolean {
    return true
  }
  end(): void {}
  once(): void {}
  destroy(): void {}
}

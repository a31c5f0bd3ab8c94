import type { Caller } from '../accounts/index.ts'
import { forbidden } from '../canonical/error.ts'
import type { Format, JsonObject } from '../canonical/node.ts'
import { requestId } from '../store/usage/request-id.ts'
import type { Abortable, Call, Reply } from './call.ts'

/** A request that an administrator makes in a caller's name. */
export interface OwnRequest {
  /** The path of an endpoint. */
  readonly path: string
  readonly query: { readonly [name: string]: string }
  readonly headers: { readonly [name: string]: string }
  readonly body: JsonObject
  readonly as: Caller
  /** The captured request that it repeats. */
  readonly repeats?: string
}

/** Sends requests in the names of callers through the endpoints. */
export interface OwnRequests {
  /**
   * Begins a request.
   *
   * @returns its id, and what settles when it is over.
   * @throws GatewayError `not-found` where no endpoint has the path.
   */
  send(request: OwnRequest, reply: Reply): { readonly id: string; readonly over: Promise<void> }
}

/** A caller whose requests only one channel may answer. Throws GatewayError `forbidden` where the key may not use it. */
export function forcedTo(caller: Caller, channel: string): Caller {
  const { permissions } = caller
  if (!permissions.allowsChannel(channel)) throw forbidden('The key may not use this channel.')
  return { ...caller, permissions: { ...permissions, allowsChannel: name => name === channel } }
}

/** A call whose request is canonical already: nothing is read at its endpoint. */
export const ownCall = (format: Format, path: string, message: Call['message'], reply: Reply): Call => ({
  ...{ id: requestId(), format, path, message, framing: 'lines', own: true, reply },
  ...{ route: { format, path, below: '', mark: '', headers: [] }, head: { headers: {}, query: {} } },
})

/** Nobody waits for the answer. */
export class NoReply implements Reply {
  readonly gone = false
  begun = false
  abortable: Abortable | undefined
  whole(): void {
    this.begun = true
  }
  begin(): void {
    this.begun = true
  }
  write(): boolean {
    return true
  }
  end(): void {}
  once(): void {}
  destroy(): void {}
}

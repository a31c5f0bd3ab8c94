import type { IncomingMessage, ServerResponse } from 'node:http'
import { loadOnce } from '../canonical/load-once.ts'
import type { Gateway } from '../gateway/index.ts'
import { refuseRequest } from './handlers.ts'
import type { Probe } from './probes.ts'

type Listener = (message: IncomingMessage, response: ServerResponse) => void

/** Loads the express app with all endpoints on the first request outside the frequent paths. */
export function lazyApp(gateway: Gateway, probes: ReadonlyMap<string, Probe>, vendor: string): Listener {
  let app: Listener | undefined
  const load = loadOnce(async () => (app = (await import('./app.ts')).appOf(gateway, probes, vendor)))
  return (message, response) => {
    if (app !== undefined) return app(message, response)
    load()
      .then(loaded => {
        // If the caller has disconnected, `close` was already emitted, and handlers would wait for it forever.
        if (!message.socket.destroyed) loaded(message, response)
      })
      .catch(thrown => refuseRequest(gateway, thrown, message, response))
  }
}

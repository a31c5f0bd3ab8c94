import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Gateway } from '../gateway/index.ts'
import { refuseRequest } from './handlers.ts'
import type { Probe } from './probes.ts'

type Listener = (message: IncomingMessage, response: ServerResponse) => void

/** Every endpoint, loaded with the first request that is none of the frequent ones. */
export function lazyApp(gateway: Gateway, probes: ReadonlyMap<string, Probe>, vendor: string): Listener {
  let app: Listener | undefined
  let loading: Promise<Listener> | undefined
  return (message, response) => {
    if (app !== undefined) return app(message, response)
    loading ??= import('./app.ts').then(({ appOf }) => (app = appOf(gateway, probes, vendor)))
    loading
      .then(loaded => {
        // A caller who left before anybody listened emits nothing more.
        if (!message.socket.destroyed) loaded(message, response)
      })
      .catch(thrown => refuseRequest(gateway, thrown, message, response))
  }
}

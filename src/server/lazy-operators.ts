import type { IncomingMessage, ServerResponse } from 'node:http'
import { loadOnce } from '../canonical/load-once.ts'
import type { Gateway } from '../gateway/index.ts'
import { pathOf } from './address.ts'

type Handler = (message: IncomingMessage, response: ServerResponse, next: (thrown?: unknown) => void) => void

/** Loads the web console on the first request for it, and serves it if the config enables it. */
export function lazyConsole(gateway: Gateway): Handler {
  const load = loadOnce(async () => new (await import('./console.ts')).ConsoleFiles())
  return (message, response, next) => {
    if (gateway.services.config.console === undefined) return next()
    load()
      .then(files => files.answer(message, response, pathOf(message)))
      .catch(next)
  }
}

/** Loads the admin API on the first request for it. Most processes never need it. */
export function lazyAdmin(gateway: Gateway): Handler {
  const load = loadOnce(async () => (await import('./admin.ts')).adminRoutes(gateway) as unknown as Handler)
  return (message, response, next) => {
    load().then(router => router(message, response, next), next)
  }
}

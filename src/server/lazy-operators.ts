import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Gateway } from '../gateway/index.ts'
import { pathOf } from './address.ts'
import type { ConsoleFiles } from './console.ts'

type Handler = (message: IncomingMessage, response: ServerResponse, next: (thrown?: unknown) => void) => void

/** Loads the web console on the first request for it, and serves it if the config enables it. */
export function lazyConsole(gateway: Gateway): Handler {
  let files: Promise<ConsoleFiles> | undefined
  return (message, response, next) => {
    if (gateway.services.config.console === undefined) return next()
    files ??= import('./console.ts').then(({ ConsoleFiles }) => new ConsoleFiles())
    files.then(all => all.answer(message, response, pathOf(message))).catch(next)
  }
}

/** Loads the admin API on the first request for it. Most processes never need it. */
export function lazyAdmin(gateway: Gateway): Handler {
  let routes: Promise<Handler> | undefined
  return (message, response, next) => {
    routes ??= import('./admin.ts').then(({ adminRoutes }) => adminRoutes(gateway) as unknown as Handler)
    routes.then(router => router(message, response, next), next)
  }
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Gateway } from '../gateway/index.ts'

type Handler = (message: IncomingMessage, response: ServerResponse, next: (thrown?: unknown) => void) => void

/** Loads the admin API on its first request. Most processes never need it. */
export function lazyAdmin(gateway: Gateway): Handler {
  let routes: Promise<Handler> | undefined
  return (message, response, next) => {
    routes ??= import('./admin.ts').then(({ adminRoutes }) => adminRoutes(gateway) as unknown as Handler)
    routes.then(router => router(message, response, next), next)
  }
}

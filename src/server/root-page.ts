import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../canonical/error.ts'
import type { Gateway } from '../gateway/index.ts'
import { accepts } from './accepts.ts'
import { CONSOLE_PATH } from './address.ts'
import { refuseRequest } from './handlers.ts'

/**
 * Answers `GET /`. Redirects browsers to the console. All other clients get a message that lists the paths of the
 * endpoints.
 */
export function rootPage(gateway: Gateway, message: IncomingMessage, response: ServerResponse): void {
  const hasConsole = gateway.services.config.console !== undefined
  if (!hasConsole || !accepts(message.headers.accept ?? '', 'text/html'))
    return refuseRequest(gateway, nothingHere(hasConsole), message, response, { vary: 'accept' })
  message.resume()
  response.on('error', () => {})
  response.writeHead(302, { location: `${CONSOLE_PATH}/`, vary: 'accept', 'cache-control': 'no-store' }).end()
}

function nothingHere(hasConsole: boolean): GatewayError {
  const console = hasConsole ? `, and the console is at ${CONSOLE_PATH}/` : ''
  const message = `There is nothing at GET /. Endpoints are below /v1, /v1beta and /v2${console}.`
  return new GatewayError({ kind: 'not-found', message })
}

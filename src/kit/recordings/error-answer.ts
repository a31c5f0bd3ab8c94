import type { ServerResponse } from 'node:http'
import type { CanonicalError } from '../../canonical/error.ts'
import { WRITERS } from '../../egress/index.ts'
import { formatOfPath } from '../../formats/routes.ts'
import { routeAt } from './read-request.ts'

/** Answers with an error in the format of the caller's path. */
export function errorAnswer(reply: ServerResponse, url: string, error: CanonicalError): void {
  const path = url.split('?', 1)[0]!
  const route = routeAt(path)?.route
  const format = route?.errors ?? route?.format ?? formatOfPath(path)
  const { status, headers, body } = WRITERS[format]!.error!(error, 'recording')
  reply.writeHead(status, { ...headers, 'content-type': 'application/json' }).end(JSON.stringify(body))
}

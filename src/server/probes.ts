import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Gateway } from '../gateway/index.ts'
import { sendStatus } from './handlers.ts'
import { METRICS_PATH, type MetricsEndpoint } from './metrics.ts'
import { ready } from './ready.ts'

export type Probe = (message: IncomingMessage, response: ServerResponse) => void

/** Handlers of paths that monitoring calls every few seconds. */
export const probesOf = (gateway: Gateway, metrics: MetricsEndpoint): ReadonlyMap<string, Probe> =>
  new Map<string, Probe>([
    ['/healthz', (_, response) => sendStatus(gateway, response, 200, 'ok')],
    ['/readyz', (_, response) => void ready(gateway, response)],
    [METRICS_PATH, (message, response) => void metrics.answer(message, response)],
  ])

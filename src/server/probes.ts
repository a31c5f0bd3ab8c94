import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Gateway } from '../gateway/index.ts'
import { sendStatus } from './handlers.ts'
import { METRICS_PATH, type MetricsEndpoint } from './metrics.ts'

export type Probe = (message: IncomingMessage, response: ServerResponse) => void

/** Handlers for paths that monitoring systems request every few seconds. */
export const probesOf = (gateway: Gateway, metrics: MetricsEndpoint): ReadonlyMap<string, Probe> =>
  new Map<string, Probe>([
    ['/healthz', (_, response) => sendStatus(gateway, response, 200, 'ok')],
    ['/readyz', (_, response) => void answerReadiness(gateway, response)],
    [METRICS_PATH, (message, response) => void metrics.answer(message, response)],
  ])

/**
 * Answers `/readyz` with 503 if the gateway has no channels or is stopping, and otherwise with 200. Faults that the
 * gateway can tolerate, such as a store outage, are reported as `degraded`, because diverting all traffic would be
 * worse. The endpoint is public, so the answer only counts the channels that are cooling down. The log names them.
 */
async function answerReadiness(gateway: Gateway, response: ServerResponse): Promise<void> {
  const { config, isStopping, stored, channels } = gateway.services
  if (config.channels.length === 0 || isStopping) return sendStatus(gateway, response, 503, 'not ready')
  const store = await stored.check()
  const { resting } = channels
  if (store === undefined) sendStatus(gateway, response, 200, 'ready', { resting })
  else sendStatus(gateway, response, 200, 'degraded', { resting, faults: { store } })
}

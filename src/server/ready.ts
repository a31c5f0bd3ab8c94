import type { ServerResponse } from 'node:http'
import type { Gateway } from '../gateway/index.ts'
import { sendStatus } from './handlers.ts'

/**
 * Answers `/readyz`: 503 if the gateway has no channels or is stopping, or else 200. Faults that the gateway can work
 * with, such as a store outage, are reported as `degraded`, because diverting all traffic would cost more. Anyone may
 * ask, so the answer only counts resting channels. The log names them.
 */
export async function ready(gateway: Gateway, response: ServerResponse): Promise<void> {
  const { config, isStopping, stored, channels } = gateway.services
  if (config.channels.length === 0 || isStopping) return sendStatus(gateway, response, 503, 'not ready')
  const store = await stored.check()
  const { resting } = channels
  if (store === undefined) sendStatus(gateway, response, 200, 'ready', { resting })
  else sendStatus(gateway, response, 200, 'degraded', { resting, faults: { store } })
}

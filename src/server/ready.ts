import type { ServerResponse } from 'node:http'
import type { Gateway } from '../gateway/index.ts'
import { sendStatus } from './handlers.ts'

/**
 * Whether balancers should send requests here: 503 where none can be answered or the gateway is stopping, else 200.
 * Faults it can work with, as of the store, are reported as `degraded`: sending all requests elsewhere would cost more.
 * Anyone may ask: resting channels are counted here and named in the log.
 */
export async function ready(gateway: Gateway, response: ServerResponse): Promise<void> {
  if (gateway.config.channels.length === 0 || gateway.leaving) return sendStatus(gateway, response, 503, 'not ready')
  const store = await gateway.stored.check()
  const { resting } = gateway.channels
  if (store === undefined) sendStatus(gateway, response, 200, 'ready', { resting })
  else sendStatus(gateway, response, 200, 'degraded', { resting, faults: { store } })
}

import type { ServerResponse } from 'node:http'
import type { Gateway } from '../gateway/index.ts'
import { sendStatus } from './handlers.ts'

/**
 * Whether requests should be sent here: 503 where none can be answered or no more are wanted, else 200. What the gateway
 * can go on without, as the store, is named as `degraded`: to send everybody away for it would cost more than it does.
 * Anyone may ask: what rests is counted here and named in the log.
 */
export async function ready(gateway: Gateway, response: ServerResponse): Promise<void> {
  if (!gateway.ready || gateway.leaving) return sendStatus(gateway, response, 503, 'not ready')
  const faults = await gateway.faults()
  const isSound = Object.keys(faults).length === 0
  const { resting } = gateway
  sendStatus(gateway, response, 200, isSound ? 'ready' : 'degraded', isSound ? { resting } : { resting, faults })
}

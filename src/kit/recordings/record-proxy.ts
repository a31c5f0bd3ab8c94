import { createServer } from 'node:http'
import { wantsWebSocket } from '../wants-websocket.ts'
import { AbandonedExchanges } from './abandoned-exchanges.ts'
import { listening } from './listening.ts'
import { passExchange } from './pass-exchange.ts'
import { PassedSessions } from './record-sockets.ts'
import type { Recorder } from './recorder.ts'

/** A running recording proxy. */
export interface RecordProxy {
  readonly url: string
  close(): Promise<void>
}

export interface RecordProxyOptions {
  /** The base URL of the upstream. */
  readonly upstream: string
  readonly recorder: Recorder
  readonly host?: string
  /** Port to listen on. 0 means any free port. */
  readonly port?: number
}

/** Starts a proxy that passes every request to the upstream and records the exchange. */
export async function openRecordProxy({ upstream, recorder, ...address }: RecordProxyOptions): Promise<RecordProxy> {
  const options = { shouldUpgradeCallback: wantsWebSocket }
  const abandoned = new AbandonedExchanges()
  const server = createServer(options, (message, reply) =>
    passExchange(message, reply, { upstream, recorder, abandoned }),
  )
  const sessions = new PassedSessions(upstream, recorder)
  server.on('upgrade', (message, connection, head) => sessions.pass(message, connection, head))
  const { url, close } = await listening(server, address)
  return {
    url,
    close: async () => {
      sessions.close()
      await abandoned.close()
      await close()
      await recorder.close()
    },
  }
}

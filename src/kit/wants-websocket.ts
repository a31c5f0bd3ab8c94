import type { IncomingMessage } from 'node:http'

/** Returns true if the request asks to upgrade to a WebSocket. Other upgrades are answered over HTTP. */
export const wantsWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'

import type { Server } from 'node:http'
import type { WebSocketServer } from 'ws'
import { parseObject } from '../../canonical/node.ts'
import { MockSession } from './session.ts'

/** Maximum size of a message, as at the gateway, in bytes. */
const MAX_MESSAGE = 20 * 2 ** 20

/** Adds realtime sessions to the mock's server. The returned function ends them. */
export function mockSockets(server: Server): () => void {
  let sockets: WebSocketServer | undefined
  server.on('upgrade', async (message, socket, head) => {
    const url = new URL(message.url ?? '/', 'http://replay')
    socket.on('error', () => socket.destroy())
    if (url.pathname !== '/v1/realtime') {
      socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
      return
    }
    const { WebSocketServer } = await import('ws')
    sockets ??= new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE, perMessageDeflate: false })
    sockets.handleUpgrade(message, socket, head, accepted => {
      const session = new MockSession(url.searchParams.get('model') ?? 'replay')
      for (const event of session.begin()) accepted.send(JSON.stringify(event))
      accepted.on('error', () => accepted.terminate())
      accepted.on('message', data => {
        for (const event of session.push(parseObject(String(data)) ?? {})) accepted.send(JSON.stringify(event))
      })
    })
  })
  return () => {
    for (const client of sockets?.clients ?? []) client.terminate()
  }
}

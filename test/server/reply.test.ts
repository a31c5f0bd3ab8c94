import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, test, vi } from 'vitest'
import { HttpReply } from '../../src/server/reply.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { SOON } from '../builders/time.ts'

const closing = closingAfterEach()

/** Starts a server that answers this way, and returns its port. */
async function serve(answer: (reply: HttpReply, response: ServerResponse) => void): Promise<number> {
  const server = createServer((message: IncomingMessage, response) =>
    answer(new HttpReply(message, response, {}, { patience: 200, isStopping: false }), response),
  )
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  closing.push(
    () => void server.closeAllConnections(),
    async () => void server.close(),
  )
  return (server.address() as AddressInfo).port
}

test('a caller that never reads the end of its stream is disconnected', async () => {
  const closed = vi.fn()
  const port = await serve((reply, response) => {
    response.on('close', closed)
    reply.begin({ 'content-type': 'text/event-stream' })
    reply.end('x'.repeat(32 * 1024 * 1024))
  })
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  closing.push(async () => void socket.destroy())
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  await vi.waitFor(() => expect(closed).toHaveBeenCalledTimes(1), SOON)
})

test('work that begins after the caller left ends at once', async () => {
  const replies: HttpReply[] = []
  const port = await serve(reply => void replies.push(reply))
  const sent = request({ port, host: '127.0.0.1' }).on('error', () => {})
  sent.end()
  await vi.waitFor(() => expect(replies).toHaveLength(1), SOON)
  sent.destroy()
  await vi.waitFor(() => expect(replies[0]!.gone).toBe(true), SOON)
  const abort = vi.fn()
  replies[0]!.abortable = { abort }
  expect(abort).toHaveBeenCalledTimes(1)
})

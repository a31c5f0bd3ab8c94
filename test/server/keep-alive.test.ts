import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { configOf } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'
import { TIMED } from '../builders/time.ts'

/* How long a connection without a request stays open. A proxy that uses one at its end has its request fail. */

const { closing, openGateway } = opener()

const keeping = (keepAlive: number) => {
  const config = configOf([])
  return { ...config, server: { ...config.server, keepAlive } }
}

/** Opens a connection to the gateway, and sends a request. Resolves with its answer. */
async function openConnection(address: string): Promise<{ readonly socket: Socket; readonly answer: string }> {
  const socket = connect(Number(new URL(address).port), '127.0.0.1')
  closing.push(() => void socket.destroy())
  socket.write('GET /healthz HTTP/1.1\r\nhost: gateway\r\n\r\n')
  return new Promise(resolve => socket.once('data', answer => resolve({ socket, answer: String(answer) })))
}

test('an idle connection stays open for server.keep_alive, also after a reload', TIMED, async () => {
  const { server } = await openGateway([])
  expect((await openConnection(server.address)).answer).toMatch(/^keep-alive: timeout=75\r$/im)
  server.reload(keeping(620_000))
  expect((await openConnection(server.address)).answer).toMatch(/^keep-alive: timeout=620\r$/im)
  server.reload(keeping(100))
  const { socket } = await openConnection(server.address)
  await new Promise(resolve => socket.once('close', resolve))
})

import { once } from 'node:events'
import { createServer } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { startListening } from '../../src/server/listening.ts'

const servers: ReturnType<typeof createServer>[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) if (server.listening) await once(server.close(), 'close')
})

function listener() {
  const server = createServer((_, response) => void response.end('here'))
  servers.push(server)
  const faults: Error[] = []
  const listen = (port: number, host = '127.0.0.1') =>
    startListening(server, { host, port }, fault => void faults.push(fault), 'server.port')
  const portOf = () => (server.address() as { readonly port: number }).port
  return { server, faults, listen, portOf }
}

test('a port in use is a fault of the start', async () => {
  const [one, other] = [listener(), listener()]
  await one.listen(0)
  await expect(other.listen(one.portOf())).rejects.toMatchObject({ code: 'EADDRINUSE' })
  expect(other.faults).toEqual([])
})

test('an address that cannot be used is named, with what to change', async () => {
  const [one, other] = [listener(), listener()]
  await one.listen(0)
  const port = one.portOf()
  await expect(other.listen(port)).rejects.toThrow(
    `127.0.0.1:${port} is in use by another program (EADDRINUSE): change server.port`,
  )
  await expect(listener().listen(port, '192.0.2.1')).rejects.toThrow(
    `192.0.2.1:${port} is not an address of this machine (EADDRNOTAVAIL): change server.port`,
  )
})

test('connections that cannot be accepted are told, each of them, and the server goes on', async () => {
  const { server, faults, listen, portOf } = listener()
  await listen(0)
  const full = Object.assign(new Error('accept ENFILE'), { code: 'ENFILE' })
  for (let times = 0; times < 3; times++) server.emit('error', full)
  expect(faults).toEqual([full, full, full])
  expect(await (await fetch(`http://127.0.0.1:${portOf()}`)).text()).toBe('here')
})

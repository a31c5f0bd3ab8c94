import { connect, createServer, type Socket } from 'node:net'

/** A proxy in front of a server of the loopback, whose answers arrive late. */
export interface SlowProxy {
  readonly port: number
  close(): void
}

/** @param delay milliseconds by which each piece of an answer is late. */
export async function slowProxy(target: number, delay: number): Promise<SlowProxy> {
  const sockets = new Set<Socket>()
  const server = createServer(caller => {
    const upstream = connect(target, '127.0.0.1')
    for (const [socket, other] of [
      [caller, upstream],
      [upstream, caller],
    ] as const) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    caller.pipe(upstream)
    upstream.on('data', bytes => setTimeout(() => caller.write(bytes), delay))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { readonly port: number }
  return {
    port,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

import { connect, createServer, type Socket } from 'node:net'

/** A proxy of the loopback that leads new connections to another server after a move. Open ones stay where they are. */
export interface MovingProxy {
  readonly port: number
  /** Leads connections from now on to another port. */
  move(port: number): void
  close(): void
}

/** @param target port of the first server. */
export async function movingProxy(target: number): Promise<MovingProxy> {
  const sockets = new Set<Socket>()
  let port = target
  const server = createServer(caller => {
    const upstream = connect(port, '127.0.0.1')
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
      socket.pipe(other)
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { readonly port: number }).port,
    move: next => {
      port = next
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

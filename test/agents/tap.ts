import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** Records all bytes between a client and the gateway. */
export class Tap {
  /** Recorded bytes by connection, in the order in which the connections were opened. */
  readonly said: { who: 'client' | 'gateway'; bytes: Buffer }[][] = []
  private readonly server: Server
  private readonly sockets = new Set<Socket>()

  private constructor(address: string) {
    const { hostname, port } = new URL(address)
    this.server = createServer(client => {
      const gateway = connect(Number(port), hostname)
      const lines: (typeof this.said)[number] = []
      this.said.push(lines)
      this.join(client, gateway, bytes => lines.push({ who: 'client', bytes }))
      this.join(gateway, client, bytes => lines.push({ who: 'gateway', bytes }))
    })
  }

  static async open(address: string): Promise<Tap> {
    const tap = new Tap(address)
    await new Promise<void>(resolve => tap.server.listen(0, '127.0.0.1', resolve))
    return tap
  }

  get address(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  close(): void {
    this.server.close()
    for (const socket of this.sockets) socket.destroy()
  }

  private join(from: Socket, to: Socket, hear: (bytes: Buffer) => void): void {
    this.sockets.add(from)
    from.on('data', (bytes: Buffer) => {
      hear(bytes)
      to.write(bytes)
    })
    from.on('end', () => to.end())
    from.on('error', () => to.destroy())
    from.on('close', () => {
      this.sockets.delete(from)
      to.destroySoon()
    })
  }
}

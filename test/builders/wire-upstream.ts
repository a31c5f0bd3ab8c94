import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'

/** One request as received over a connection. */
export interface Came {
  /** Numbers of the connection and of the request on it, starting at 0. */
  readonly connection: number
  readonly turn: number
  readonly body: string
  readonly socket: Socket
}

/** An upstream that writes raw HTTP. A test controls each byte, and when the connection breaks. */
export class WireUpstream {
  connections = 0
  readonly came: Came[] = []
  private readonly server: Server
  private readonly sockets = new Set<Socket>()

  private constructor(answer: (came: Came) => void) {
    this.server = createServer(socket => {
      const connection = this.connections++
      let turn = 0
      let text = ''
      this.sockets.add(socket)
      socket.on('error', () => {}).on('close', () => this.sockets.delete(socket))
      socket.setNoDelay(true).on('data', chunk => {
        text += chunk.toString('latin1')
        for (let body = whole(text); body !== undefined; body = whole(text)) {
          text = ''
          const came = { connection, turn: turn++, body, socket }
          this.came.push(came)
          answer(came)
        }
      })
    })
  }

  static async open(answer: (came: Came) => void): Promise<WireUpstream> {
    const upstream = new WireUpstream(answer)
    await new Promise<void>(resolve => upstream.server.listen(0, '127.0.0.1', resolve))
    return upstream
  }

  get address(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy()
    return new Promise(resolve => this.server.close(() => resolve()))
  }
}

/** Returns the body of the first request in a text. Undefined while it is incomplete. */
function whole(text: string): string | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const body = text.slice(end + 4)
  const length = /^content-length: (\d+)\r$/im.exec(text.slice(0, end + 2))?.[1]
  if (length === undefined)
    return text.includes('\r\n0\r\n\r\n') || !/^transfer-encoding/im.test(text) ? body : undefined
  return body.length >= Number(length) ? body : undefined
}

/** Returns the bytes of an HTTP answer. */
export function answerOf(
  body: string | Buffer,
  headers: { readonly [name: string]: string } = {},
  status = 200,
): Buffer {
  const bytes = Buffer.from(body)
  const all = { 'content-type': 'application/json', 'content-length': String(bytes.length), ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Fine\r\n${lines.join('')}\r\n`), bytes])
}

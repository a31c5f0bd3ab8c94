import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** Time at which the connection closed before the answer was complete, in Unix milliseconds. */
  brokenAt?: number
}

export type Script = (response: ServerResponse, seen: Seen) => unknown

/** An upstream on the loopback that answers by a script and records its requests. */
export class FakeUpstream {
  readonly seen: Seen[] = []
  script: Script
  private readonly server: Server

  private constructor(script: Script) {
    this.script = script
    this.server = createServer((message, response) => {
      let text = ''
      message.setEncoding('utf8')
      message.on('data', chunk => (text += chunk))
      message.on('end', () => {
        const seen: Seen = { method: message.method!, url: message.url!, headers: message.headers, text }
        this.seen.push(seen)
        response.on('close', () => {
          if (!response.writableFinished) seen.brokenAt = Date.now()
        })
        this.script(response, seen)
      })
    })
  }

  static async open(script: Script): Promise<FakeUpstream> {
    const upstream = new FakeUpstream(script)
    await new Promise<void>(resolve => upstream.server.listen(0, '127.0.0.1', resolve))
    return upstream
  }

  get address(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  close(): Promise<void> {
    this.server.closeAllConnections()
    return new Promise(resolve => this.server.close(() => resolve()))
  }
}

/** Returns the address of a closed port on the loopback. */
export async function deadAddress(): Promise<string> {
  const upstream = await FakeUpstream.open(() => {})
  const { address } = upstream
  await upstream.close()
  return address
}

import type { HeaderSource, Reply, Worker } from '../call.ts'
import { Recording } from './recording.ts'

type Headers = { readonly [name: string]: string }

/** A reply that is recorded on its way to the caller. */
export class RecordedReply implements Reply {
  status: number | undefined
  /** The headers it began with, without those of every answer of the server. */
  head: Headers = {}
  /** When it began: milliseconds from the beginning of its request. */
  beganAfter: number | undefined
  readonly body: Recording
  private readonly reply: Reply

  constructor(reply: Reply, began: number) {
    this.reply = reply
    this.body = new Recording(began)
  }

  get gone(): boolean {
    return this.reply.gone
  }

  get begun(): boolean {
    return this.reply.begun
  }

  get worker(): Worker | undefined {
    return this.reply.worker
  }

  set worker(worker: Worker | undefined) {
    this.reply.worker = worker
  }

  get headers(): HeaderSource | undefined {
    return this.reply.headers
  }

  set headers(source: HeaderSource | undefined) {
    this.reply.headers = source
  }

  whole(status: number, headers: Headers, text: string): void {
    this.begins(status, headers)
    this.body.take(text)
    this.body.isWhole = true
    this.reply.whole(status, headers, text)
  }

  begin(headers: Headers, status = 200): void {
    this.begins(status, headers)
    this.reply.begin(headers, status)
  }

  write(piece: string | Uint8Array): boolean {
    this.body.take(piece)
    return this.reply.write(piece)
  }

  end(text: string): unknown {
    this.body.take(text)
    this.body.isWhole = !this.reply.gone
    return this.reply.end(text)
  }

  once(event: 'drain', listener: () => void): unknown {
    return this.reply.once(event, listener)
  }

  destroy(): unknown {
    return this.reply.destroy()
  }

  private begins(status: number, headers: Headers): void {
    const head: { [name: string]: string } = { ...headers }
    this.reply.headers?.addTo(head)
    this.status = status
    this.head = head
    this.beganAfter = this.body.elapsed
  }
}

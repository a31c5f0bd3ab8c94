import { type Abortable, type HeaderSource, type Headers, type Reply, whenSent } from './call.ts'

/** A reply that passes everything on to another one. Subclasses change or record what passes. */
export class ForwardedReply implements Reply {
  protected readonly reply: Reply

  constructor(reply: Reply) {
    this.reply = reply
  }

  get gone(): boolean {
    return this.reply.gone
  }

  get started(): boolean {
    return this.reply.started
  }

  get abortable(): Abortable | undefined {
    return this.reply.abortable
  }

  set abortable(abortable: Abortable | undefined) {
    this.reply.abortable = abortable
  }

  get rateHeaders(): HeaderSource | undefined {
    return this.reply.rateHeaders
  }

  set rateHeaders(source: HeaderSource | undefined) {
    this.reply.rateHeaders = source
  }

  get acceptsTrailers(): boolean {
    return this.reply.acceptsTrailers === true
  }

  get trailers(): Headers | undefined {
    return this.reply.trailers
  }

  set trailers(trailers: Headers | undefined) {
    this.reply.trailers = trailers
  }

  whole(status: number, headers: Headers, text: string): void {
    this.reply.whole(status, headers, text)
  }

  begin(headers: Headers, status?: number): void {
    this.reply.begin(headers, status)
  }

  write(piece: string | Uint8Array): boolean {
    return this.reply.write(piece)
  }

  end(text: string): unknown {
    return this.reply.end(text)
  }

  once(event: 'drain', listener: () => void): unknown {
    return this.reply.once(event, listener)
  }

  whenSent(listener: () => void): void {
    whenSent(this.reply, listener)
  }

  destroy(): unknown {
    return this.reply.destroy()
  }
}

import type { Abortable, HeaderSource, Reply } from '../../gateway/call.ts'

type Headers = { readonly [name: string]: string }

/** Header with the endpoint's status. The answer itself always has HTTP status 200. */
const STATUS_HEADER = 'x-interlingua-status'

/**
 * Passes an endpoint's answer on to the administrator who sent a trial request. Headers keep browsers from executing
 * the content.
 */
export class TrialReply implements Reply {
  private readonly reply: Reply

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

  set rateHeaders(headers: HeaderSource | undefined) {
    this.reply.rateHeaders = headers
  }

  whole(status: number, headers: Headers, text: string): void {
    this.reply.whole(200, withSafetyHeaders(status, headers), text)
  }

  begin(headers: Headers, status = 200): void {
    this.reply.begin(withSafetyHeaders(status, headers))
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

  destroy(): unknown {
    return this.reply.destroy()
  }
}

const withSafetyHeaders = (status: number, headers: Headers): Headers => ({
  ...headers,
  ...{ [STATUS_HEADER]: String(status), 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
  'content-security-policy': "default-src 'none'; sandbox",
})

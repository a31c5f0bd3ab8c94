import { setImmediate as breath } from 'node:timers/promises'
import { credentialOf } from '../../access/index.ts'
import type { CanonicalError } from '../../canonical/error.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { addressed, flat, single } from '../../channel/index.ts'
import { credentialsOf } from '../call.ts'
import { locateLosses } from '../locate-losses.ts'
import { withoutAddresses } from '../secrets.ts'
import { shownBody, shownFiles } from './bodies.ts'
import { Bounded } from './bounded.ts'
import type { Capture, CapturedExchange } from './capture.ts'
import type { CaptureDocument, CapturedAttempt, CapturedBody, CapturedError, WirePlace } from './document.ts'
import { lossViews, Pointers } from './pointers.ts'
import {
  patternOf,
  type Scrub,
  scrubberOf,
  secretsOfChannel,
  secretsOfRequest,
  shownHeaders,
  shownQuery,
} from './secrets.ts'

/** Makes the document of a request that is over: with breaks, as others run meanwhile. */
export async function written(capture: Capture, known: RegExp | undefined, error?: string): Promise<CaptureDocument> {
  return new Writer(capture, known).document(error)
}

class Writer {
  private readonly capture: Capture
  private readonly scrub: Scrub
  private readonly bounded: Bounded
  private readonly query: URLSearchParams
  private readonly pointers: Pointers

  /** @param known the secrets of the config and of its channels. */
  constructor(capture: Capture, known: RegExp | undefined) {
    const { call, sent, request, exchanges } = capture
    const { message } = call
    this.capture = capture
    this.query = new URLSearchParams(message.url?.split('?', 2)[1] ?? '')
    const own = secretsOfRequest(message.headers, this.query, credentialOf(credentialsOf(call)))
    // The config may have changed since.
    const tried = exchanges.flatMap(({ candidate }) => secretsOfChannel(candidate.channel))
    this.scrub = scrubberOf(known, patternOf([...own, ...tried]))
    this.bounded = new Bounded(this.scrub)
    this.pointers = new Pointers(call.format, sent?.wire, request)
  }

  async document(error: string | undefined): Promise<CaptureDocument> {
    const { call, caller, at, request, exchanges, omittedExchanges } = this.capture
    const head = {
      ...{ id: call.id, at, key: caller.id, key_name: this.scrub(caller.key) },
      ...(request === undefined ? {} : { model: this.scrub(request.model) }),
      ...(call.repeats === undefined ? {} : { replay_of: call.repeats }),
    }
    const sent = this.caller()
    await breath()
    const canonical = request === undefined ? undefined : this.bounded.copy(request, '/canonical')
    const attempts: CapturedAttempt[] = []
    for (const [index, exchange] of exchanges.entries()) {
      await breath()
      attempts.push(await this.attempt(exchange, `/attempts/${index}`))
    }
    await breath()
    return {
      ...head,
      caller: sent,
      ...(canonical === undefined ? {} : { canonical }),
      attempts,
      ...(omittedExchanges === 0 ? {} : { omitted_attempts: omittedExchanges }),
      returned: await this.returned(),
      ...(error === undefined ? {} : { error }),
      cut: this.bounded.cut,
    }
  }

  private caller(): CaptureDocument['caller'] {
    const { call, sent, unread } = this.capture
    const { headers, url = call.path } = call.message
    const about = {
      ...{ format: call.format, path: this.scrub(withoutAddresses(url.split('?', 1)[0]!)) },
      ...{ query: this.texts(shownQuery(this.query)), headers: this.texts(shownHeaders(headers)) },
    }
    if (sent === undefined) {
      if (unread === undefined) return about
      return { ...about, ...shownBody(unread, 'text/plain', '/caller', this.bounded, this.scrub) }
    }
    const wire = sent.wire === undefined ? {} : { wire: this.place(sent.wire) }
    return { ...about, ...wire, ...this.body(sent.body, sent.files, '/caller') }
  }

  private body(body: object, files: Parameters<typeof shownFiles>[0] | undefined, at: string): CapturedBody {
    return {
      body: this.bounded.copy(body, `${at}/body`),
      ...(files === undefined ? {} : { files: shownFiles(files, this.bounded, `${at}/files`) }),
    }
  }

  private place({ path, query, headers }: WireRequest): WirePlace {
    return this.bounded.copy({ path, query, headers }, '/wire') as unknown as WirePlace
  }

  private async attempt(exchange: CapturedExchange, at: string): Promise<CapturedAttempt> {
    const { candidate, attempt, prepared, status, headers, body, answeredAfter, error, endedAfter } = exchange
    const type = single(headers['content-type']).toLowerCase()
    const lost = prepared === undefined ? [] : locateLosses(prepared.losses, attempt)
    return {
      ...{ channel: candidate.channel.name, format: candidate.format.format, native: candidate.native },
      ...{ upstream_model: this.scrub(candidate.upstreamModel), sent_after_ms: exchange.sentAfter },
      ...(endedAfter === undefined ? {} : { ended_after_ms: endedAfter }),
      losses: lossViews(lost, await this.pointers.of(prepared?.losses ?? [], lost), this.scrub),
      ...(prepared === undefined ? {} : { request: this.outgoing(exchange, at) }),
      ...(status === undefined
        ? {}
        : {
            answer: {
              ...{ status, headers: this.texts(shownHeaders(flat(headers))), after_ms: answeredAfter! },
              whole: body.isWhole,
              ...this.answerBody(exchange, type, `${at}/answer`),
            },
          }),
      ...(error === undefined ? {} : { error: this.error(error) }),
    }
  }

  /** Of errors addresses go, too: they are what upstreams name them in. */
  private answerBody({ status = 0, body }: CapturedExchange, type: string, at: string): CapturedBody {
    const scrub: Scrub = status < 400 ? this.scrub : text => withoutAddresses(this.scrub(text))
    const bounded = status < 400 ? this.bounded : new Bounded(scrub)
    const shown = shownBody(body, kindOf(type, body), at, bounded, scrub)
    if (bounded !== this.bounded) for (const place of bounded.cut) this.bounded.cut.push(place)
    return shown
  }

  private outgoing({ candidate, prepared }: CapturedExchange, at: string): NonNullable<CapturedAttempt['request']> {
    const { wire } = prepared!
    const { files, raw, body, ...rest } = wire
    const { origin, path, headers } = addressed(candidate.channel, {
      ...{ format: candidate.format, wire: { ...rest, body: body['stream'] === true ? { stream: true } : {} } },
      from: this.capture.call.message.headers,
    })
    const [place = '', query = ''] = path.split('?', 2)
    return {
      ...{ origin: withoutAddresses(this.scrub(origin)), path: this.scrub(place) },
      ...{ query: this.texts(shownQuery(new URLSearchParams(query))), headers: this.texts(shownHeaders(headers)) },
      wire: this.place(wire),
      ...(raw === undefined ? this.body(body, files, `${at}/request`) : { bytes: raw.bytes.size ?? 0 }),
    }
  }

  private async returned(): Promise<CaptureDocument['returned']> {
    const { reply, lostInAnswer } = this.capture
    const { status, head, body, beganAfter } = reply
    const type = (head['content-type'] ?? 'application/json').toLowerCase()
    return {
      ...(status === undefined ? {} : { status, after_ms: beganAfter! }),
      headers: this.texts(shownHeaders(head)),
      whole: body.isWhole,
      losses: lossViews(lostInAnswer, [], this.scrub),
      ...shownBody(body, type, '/returned', this.bounded, this.scrub),
    }
  }

  private error({ kind, message }: CanonicalError): CapturedError {
    return { kind, message: withoutAddresses(this.bounded.text(message, '/error')) }
  }

  private texts(fields: { readonly [name: string]: string }): { readonly [name: string]: string } {
    return Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [this.scrub(name), withoutAddresses(this.scrub(value))]),
    )
  }
}

/** Some upstreams declare another type than they send. */
function kindOf(type: string, { pieces }: CapturedExchange['body']): string {
  const first = pieces[0]?.content
  const start = first === undefined ? '' : Buffer.from(first as string).toString('latin1', 0, 6)
  return /^(data:|event:|: )/.test(start) ? 'text/event-stream' : type
}

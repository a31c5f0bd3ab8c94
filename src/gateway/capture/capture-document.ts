import { setImmediate as breath } from 'node:timers/promises'
import { credentialOf } from '../../accounts/index.ts'
import type { CanonicalError } from '../../canonical/error.ts'
import type { Loss, Path } from '../../canonical/loss.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { existing, pointerOf } from '../../kit/pointer.ts'
import { Redaction } from '../../kit/recordings/redaction.ts'
import { differentSecrets, patternOf } from '../../kit/secret-pattern.ts'
import { headerValue, outgoingRequest, withSingleValues } from '../../upstreams/channel/index.ts'
import { callerPaths } from '../locate-losses.ts'
import type { Prepared } from '../prepare.ts'
import type { Scrub } from '../scrub.ts'
import { withoutAddresses } from '../secrets.ts'
import { BoundedCopy, shownBody, shownFiles, textOf } from './bounded-copy.ts'
import type { Capture, CapturedExchange, CaptureSource } from './capture.ts'
import {
  REMOVED_TEXT,
  scrubberOf,
  secretsOfBody,
  secretsOfChannel,
  secretsOfRequest,
  secretsOfUnread,
  shownHeaders,
  shownQuery,
} from './secrets.ts'
import type {
  CaptureDocument,
  CapturedAttempt,
  CapturedBody,
  CapturedError,
  CapturedLoss,
  WireTarget,
} from './shapes.ts'

/** Maximum number of losses shown per request. */
const MAX_LOSSES = 500

/** Builds the document of a finished request. Pauses between sections, so that running requests are not delayed. */
export async function captureDocument(
  capture: Capture,
  configSecrets: RegExp | undefined,
  error?: string,
): Promise<CaptureDocument> {
  return new DocumentWriter(capture, configSecrets).document(error)
}

class DocumentWriter {
  private readonly capture: Capture
  private readonly scrub: Scrub
  private readonly bounded: BoundedCopy
  private readonly query: URLSearchParams

  /**
   * @param known matches secrets of the config and its channels.
   * @throws Error if the request has too many secrets.
   */
  constructor(capture: Capture, known: RegExp | undefined) {
    const { call, exchanges } = capture
    const { headers, url = '' } = call.message
    this.capture = capture
    this.query = new URLSearchParams(url.split('?', 2)[1] ?? '')
    const credential = credentialOf({ headers, queryKey: call.queryKey })
    const requestSecrets = secretsOfRequest(headers, this.query, credential)
    // The config may have changed since the request.
    const channelSecrets = exchanges.flatMap(({ attempt }) => secretsOfChannel(attempt.target.channel))
    const { parsedBody, unread } = capture
    const bodySecrets =
      parsedBody === undefined
        ? secretsOfUnread(unread === undefined ? '' : textOf(unread))
        : secretsOfBody(parsedBody.body)
    const callerSecrets = differentSecrets([...requestSecrets, ...bodySecrets])
    const secrets = [known, patternOf([...callerSecrets, ...channelSecrets], true)].filter(one => one !== undefined)
    this.scrub = scrubberOf(...secrets)
    this.bounded = new BoundedCopy(this.scrub, new Redaction([], secrets, REMOVED_TEXT, 0))
  }

  async document(error: string | undefined): Promise<CaptureDocument> {
    const { call, caller, at, request, exchanges, omittedExchanges } = this.capture
    const head = {
      id: call.id,
      at,
      key: caller.id,
      key_name: this.scrub(caller.key),
      replay_of: call.repeats,
      affinity: this.capture.affinity,
    }
    const model = request && this.scrub(request.model)
    const sent = this.callerSection()
    await breath()
    const canonical = request && this.bounded.copy(request, '/canonical')
    const attempts: CapturedAttempt[] = []
    for (const [index, exchange] of exchanges.entries()) {
      await breath()
      attempts.push(await this.attemptSection(exchange, `/attempts/${index}`))
    }
    await breath()
    return {
      ...head,
      ...{ model, caller: sent, canonical, attempts, omitted_attempts: omittedExchanges || undefined, error },
      returned: await this.returnedSection(),
      cut: this.bounded.cutPointers,
    }
  }

  private callerSection(): CaptureDocument['caller'] {
    const { call, parsedBody: sent, unread } = this.capture
    const { headers, url = call.path } = call.message
    const head = {
      ...{ format: call.format, path: this.scrub(withoutAddresses(url.split('?', 1)[0]!)) },
      ...{ query: this.texts(shownQuery(this.query)), headers: this.texts(shownHeaders(headers)) },
    }
    if (sent === undefined) {
      if (unread === undefined) return head
      return { ...head, ...shownBody(unread, 'text/plain', '/caller', this.bounded) }
    }
    const wire = sent.wire && this.wireHead(sent.wire)
    return { ...head, wire, ...this.body(sent.body, sent.files, '/caller') }
  }

  private body(body: object, files: Parameters<typeof shownFiles>[0] | undefined, at: string): CapturedBody {
    return {
      body: this.bounded.copy(body, `${at}/body`),
      files: files && shownFiles(files, this.bounded, `${at}/files`),
    }
  }

  private wireHead({ path, query, headers }: WireRequest): WireTarget {
    return this.bounded.copy({ path, query, headers }, '/wire') as unknown as WireTarget
  }

  private async attemptSection(exchange: CapturedExchange, at: string): Promise<CapturedAttempt> {
    const { attempt, prepared, status, headers, body, answeredAfter, error, endedAfter } = exchange
    const { target } = attempt
    const type = headerValue(headers['content-type']).toLowerCase()
    return {
      ...{ channel: target.channel.name, format: target.format.format, native: target.native },
      ...{ upstream_model: this.scrub(target.upstreamModel), sent_after_ms: exchange.sentAfter },
      ended_after_ms: endedAfter,
      losses: this.locatedLosses(prepared?.losses ?? [], attempt),
      request: prepared && this.requestSection(exchange, prepared, at),
      answer:
        status === undefined
          ? undefined
          : {
              ...{ status, headers: this.texts(shownHeaders(withSingleValues(headers))), after_ms: answeredAfter! },
              whole: body.isComplete,
              ...this.answerBody(exchange, type, `${at}/answer`),
            },
      error: error && this.error(error),
    }
  }

  private locatedLosses(losses: readonly Loss[], attempt: CaptureSource): CapturedLoss[] {
    const { body } = this.capture.parsedBody?.wire ?? {}
    const pathOf = callerPaths(attempt)
    return losses.slice(0, MAX_LOSSES).map(loss => this.loss(loss, existing(body, pathOf(loss.path))))
  }

  private loss({ kind, reason, path, restored }: Loss, pointerPath: Path = []): CapturedLoss {
    const { scrub } = this
    return {
      ...{ kind, reason: scrub(reason), path: path.map(step => (typeof step === 'string' ? scrub(step) : step)) },
      ...{ pointer: pointerPath.length === 0 ? undefined : scrub(pointerOf(pointerPath)), restored },
    }
  }

  /**
   * Returns the body of an upstream's answer. Removes addresses from errors, because upstreams sometimes name them in
   * errors.
   */
  private answerBody({ status = 0, body }: CapturedExchange, type: string, at: string): CapturedBody {
    const scrub: Scrub = status < 400 ? this.scrub : text => withoutAddresses(this.scrub(text))
    const bounded = status < 400 ? this.bounded : this.bounded.with(scrub)
    const shown = shownBody(body, kindOf(type, body), at, bounded)
    if (bounded !== this.bounded) for (const pointer of bounded.cutPointers) this.bounded.cutPointers.push(pointer)
    return shown
  }

  private requestSection(
    { attempt: { target } }: CapturedExchange,
    { wire }: Prepared,
    at: string,
  ): CapturedAttempt['request'] {
    const { files, raw, body, ...rest } = wire
    const { origin, path, headers } = outgoingRequest(target.channel, {
      ...{ format: target.format, wire: { ...rest, body: body['stream'] === true ? { stream: true } : {} } },
      from: this.capture.call.message.headers,
    })
    const [pathname = '', query = ''] = path.split('?', 2)
    return {
      ...{ origin: withoutAddresses(this.scrub(origin)), path: this.scrub(pathname) },
      ...{ query: this.texts(shownQuery(new URLSearchParams(query))), headers: this.texts(shownHeaders(headers)) },
      wire: this.wireHead(wire),
      ...(raw === undefined ? this.body(body, files, `${at}/request`) : { bytes: raw.bytes.size ?? 0 }),
    }
  }

  private async returnedSection(): Promise<CaptureDocument['returned']> {
    const { reply, answerLosses: lostInAnswer } = this.capture
    const { status, head, body, headAfter: beganAfter } = reply
    const type = (head['content-type'] ?? 'application/json').toLowerCase()
    return {
      ...{ status, after_ms: beganAfter, headers: this.texts(shownHeaders(head)) },
      whole: body.isComplete,
      losses: lostInAnswer.slice(0, MAX_LOSSES).map(loss => this.loss(loss)),
      ...shownBody(body, type, '/returned', this.bounded),
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

/** Detects events by their first bytes, because some upstreams declare a wrong content type. */
function kindOf(type: string, { pieces }: CapturedExchange['body']): string {
  const first = pieces[0]?.content
  const start = first === undefined ? '' : Buffer.from(first as string).toString('latin1', 0, 6)
  return /^(data:|event:|: )/.test(start) ? 'text/event-stream' : type
}

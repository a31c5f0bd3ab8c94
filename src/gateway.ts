import { type Access, type Caller, openAccess } from './access/index.ts'
import { ERRORS, GatewayError } from './canonical/error.ts'
import type { WireRequest } from './canonical/exchange.ts'
import type { Format } from './canonical/node.ts'
import type { CanonicalRequest } from './canonical/request.ts'
import { workOf } from './canonical/work.ts'
import type { Channel } from './channel.ts'
import type { Config, OnLoss } from './config.ts'
import { WRITERS } from './egress/index.ts'
import { jsonText } from './egress/json.ts'
import { type Asking, isForm, readAskingForm } from './gateway/asking.ts'
import { attempt } from './gateway/attempt.ts'
import type { Call } from './gateway/call.ts'
import { Channels } from './gateway/channels.ts'
import { opened } from './gateway/compaction/opened.ts'
import { Seals } from './gateway/compaction/seals.ts'
import { headersOf, mayRetry, seenFromOutside, telling, toFailure, UpstreamFailure } from './gateway/failures.ts'
import { Media } from './gateway/media.ts'
import { type ModelShape, modelList, modelRecord } from './gateway/models.ts'
import { weigh } from './gateway/prepare.ts'
import { type Log, Report } from './gateway/report.ts'
import { readJson } from './ingress/body.ts'
import { FORM_LIMIT } from './ingress/form.ts'
import { READERS } from './ingress/index.ts'
import { type Candidate, route, usableModels } from './router.ts'

export type { Call, Reply } from './gateway/call.ts'
export type { ModelShape } from './gateway/models.ts'
export type { Log } from './gateway/report.ts'

interface ErrorAnswer {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly text: string
}

/** A request on its way, and whose it is. */
interface Asked extends Asking {
  readonly call: Call
  readonly caller: Caller
  readonly report: Report
}

/** Everything between the doors and the upstreams: whose request it is, who answers it, and in which words. */
export class Gateway {
  private readonly log: Log
  private readonly access: Access
  private readonly channels: Channels
  private media: Media
  private seals: Seals
  private config: Config

  constructor(config: Config, log: Log) {
    this.config = config
    this.log = log
    this.access = openAccess(config, { onFault: message => log.error({}, message) })
    this.channels = new Channels(config.channels)
    this.media = new Media(config.media)
    this.seals = new Seals(config.dataDir)
  }

  /** The journey of one request. Never rejects: whatever goes wrong is answered in the caller's format. */
  async handle(call: Call): Promise<void> {
    const report = new Report(call)
    let caller: Caller | undefined
    try {
      caller = this.access.identify(credentialsOf(call))
      report.key = caller.key
      this.access.admit(caller)
      const { request, late, drop } = await this.read(call, caller)
      try {
        report.asked(request)
        await this.answer({ call, caller, request, late, report })
      } finally {
        drop?.()
      }
    } catch (thrown) {
      this.fail(call, thrown, report)
    }
    if (caller !== undefined && report.tokens > 0) this.access.spend(caller, report.tokens)
    report.write(this.log)
  }

  private async read(call: Call, caller: Caller): Promise<Asking> {
    const { limits } = this.config.server
    const limit = limits.byFormat.get(call.format)
    const read = (wire: WireRequest) => opened(READERS[call.format]!.request!(wire), this.seals.of(caller.id))
    if (isForm(call)) return readAskingForm(call, limit ?? FORM_LIMIT, read)
    return { request: read(call.wire(call.body ?? (await readJson(call.message, limit ?? limits.body)))) }
  }

  /** One channel after the other, until one answers or what failed would fail everywhere. */
  private async answer(asked: Asked): Promise<void> {
    const { call, caller, request, late, report } = asked
    const onLoss: OnLoss = call.message.headers['interlingua-on-loss'] === 'refuse' ? 'refuse' : caller.group.onLoss
    const { heartbeat } = this.config.server
    const seal = this.seals.of(caller.id)
    let failure: GatewayError | undefined
    const failed: Channel[] = []
    for (const candidate of this.route(asked, onLoss)) {
      const channel = this.channels.get(candidate.channel)
      if (channel === undefined) continue
      const ready = this.media.concerns(request, candidate) ? await this.media.ready(request, candidate) : request
      try {
        await attempt({ call, request: ready, late, candidate, channel, report, onLoss, heartbeat, seal })
        for (const one of failed) one.cool(Date.now() + REST, 'upstream-failed')
        return
      } catch (thrown) {
        if (call.reply.gone) throw GONE
        const seen = this.outside(thrown, candidate, request)
        if (call.reply.begun || isSpent(asked, seen) || !mayRetry(seen.error)) throw seen
        failure = telling(failure, seen)
        if (seen.error.kind !== 'cannot-express') failed.push(channel)
      }
    }
    throw failure ?? new GatewayError({ kind: 'overloaded', message: 'No channel can take this request.' })
  }

  private route({ call, caller, request }: Asked, onLoss: OnLoss): readonly Candidate[] {
    const { model, cacheKey, state } = request
    const work = workOf(request)
    if (work === 'compaction' && this.config.models.get(model)?.compaction === 'disabled') throw notCompacted(model)
    return route(
      {
        model,
        format: call.format,
        work,
        allowed: caller.group.models,
        now: Date.now(),
        draw: cacheKey ?? state?.conversation ?? call.id,
        losses: (format, channel) =>
          weigh(
            request,
            { channel, format, native: format.format === call.format, detour: false, upstreamModel: model },
            onLoss,
          ),
      },
      this.channels.all,
    )
  }

  /** The failure of one candidate: its channel rests as long as the upstream asks, and the caller learns no secrets. */
  private outside(thrown: unknown, candidate: Candidate, request: CanonicalRequest): GatewayError {
    const failure = toFailure(thrown)
    const { error, cause } = failure
    const channel = candidate.channel.name
    if (error.kind !== 'internal' && error.kind !== 'cannot-express')
      this.log.warn({ channel, kind: error.kind, err: cause, said: error.message.slice(0, 500) }, 'a channel failed')
    if (error.retryAfterSeconds !== undefined && mayRetry(error))
      this.channels.get(candidate.channel)?.cool(Date.now() + error.retryAfterSeconds * 1000, error.kind)
    return error.kind === 'internal'
      ? failure
      : new UpstreamFailure(seenFromOutside(error, candidate, request.model), headersOf(failure))
  }

  private fail({ id, format, framing, reply }: Call, thrown: unknown, report: Report): void {
    const { status, headers, text } = this.error(format, thrown, id)
    report.failed(toFailure(thrown).error, reply.gone ? GONE_STATUS : reply.begun ? report.status : status)
    if (reply.gone) return
    if (reply.begun) reply.destroy()
    else reply.whole(status, headers, framing === 'array' ? `[${text}]` : text)
  }

  /** Whatever was thrown, as an answer of the format. Our own faults are logged, never told. */
  error(format: Format, thrown: unknown, id: string): ErrorAnswer {
    const { error, cause } = toFailure(thrown)
    if (error.kind === 'internal') this.log.error({ id, err: cause }, 'a fault of the gateway')
    const { status, headers, body } = WRITERS[format]!.error!(error, id)
    return { status, headers: { ...headersOf(thrown), ...headers }, text: jsonText(body) }
  }

  /**
   * The text of the models a key can call, or of one of them, in the shape asked for.
   *
   * @throws GatewayError as `identify` does, and `not-found` for a model the key cannot call.
   */
  models(call: Pick<Call, 'message' | 'queryKey'>, shape: ModelShape, id?: string): string {
    const caller = this.access.identify(credentialsOf(call))
    const usable = usableModels(caller.group.models, this.channels.all)
    return id === undefined
      ? modelList(shape, usable, this.config.models)
      : modelRecord(shape, id, usable, this.config.models)
  }

  /** The gateway has somewhere to send requests. */
  get ready(): boolean {
    return this.config.channels.length > 0
  }

  /** Takes another config without dropping a request. */
  reload(config: Config): void {
    this.config = config
    this.access.reload(config)
    this.channels.reload(config.channels)
    this.media = this.media.reloaded(config.media)
    if (config.dataDir !== this.seals.dataDir) this.seals = new Seals(config.dataDir)
  }

  async close(): Promise<void> {
    this.access.close()
    await this.channels.close()
    await this.media.close()
  }
}

/** Milliseconds for which a channel rests that failed where another did not; a channel without a better never does. */
const REST = 5000

/** A file that flows through can be sent once. */
const isSpent = ({ late }: Asked, { error }: GatewayError): boolean =>
  late !== undefined && error.kind !== 'cannot-express'

const GONE_STATUS = ERRORS.cancelled.status
const GONE = new GatewayError({ kind: 'cancelled', message: 'The caller went away.' })

const notCompacted = (model: string): GatewayError =>
  new GatewayError({
    kind: 'not-found',
    message: `Conversations with the model "${model}" are not compacted here.`,
    param: 'model',
    code: 'model_not_supported',
  })

const credentialsOf = ({ message, queryKey }: Pick<Call, 'message' | 'queryKey'>) => ({
  headers: message.headers,
  ...(queryKey === undefined ? {} : { queryKey }),
})

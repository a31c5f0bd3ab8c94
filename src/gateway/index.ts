import { type Access, type Allowance, type Caller, openAccess } from '../access/index.ts'
import { Waiting } from '../access/waiting.ts'
import type { MediaPart } from '../canonical/content.ts'
import { ERRORS } from '../canonical/error.ts'
import type { Format } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { RawBody, WireRequest } from '../canonical/wire.ts'
import { workOf } from '../canonical/work.ts'
import type { Config, OnLoss } from '../config/index.ts'
import { jsonText } from '../egress/transport/json.ts'
import { PATIENCE } from '../egress/transport/sse.ts'
import { READERS } from '../ingress/index.ts'
import { readJson } from '../ingress/transport/body.ts'
import { FORM_LIMIT } from '../ingress/transport/form.ts'
import { type Candidate, usableModels } from '../router.ts'
import { type KeptCall, keptAnswer } from '../stored/actions.ts'
import type { Keeper } from '../stored/keeper.ts'
import { UNAVAILABLE } from '../stored/lazy-store.ts'
import { play } from '../stored/playback.ts'
import { State } from '../stored/state.ts'
import { type TaskQuery, VideoTasks } from '../tasks/index.ts'
import type { Submission } from '../tasks/submission.ts'
import type { Attempt } from './attempt.ts'
import { type Call, credentialsOf, type Reply } from './call.ts'
import { Channels } from './channels.ts'
import { opened } from './compaction/opened.ts'
import { Seals } from './compaction/seals.ts'
import { expectedTokens, mostTokens } from './counting/expected.ts'
import { EarlyHead, mayBeginEarly } from './early-head.ts'
import { type ErrorAnswer, errorAnswer } from './error-answer.ts'
import { writeErrorStream } from './error-stream.ts'
import { failover } from './failover.ts'
import { toFailure } from './failures.ts'
import { deliverImages } from './image-delivery.ts'
import { ImageStore, type StoredImage } from './image-store.ts'
import { LogOnce } from './log-once.ts'
import { mayFlow } from './may-flow.ts'
import { Media } from './media.ts'
import type { Query as ModelQuery } from './model-pages.ts'
import { type ModelShape, modelList, modelRecord } from './models.ts'
import { checkModels } from './named-models.ts'
import { RateHeaders } from './rate-headers.ts'
import { isForm, type ReadRequest, readFormRequest } from './read-request.ts'
import { relay } from './relay.ts'
import { type Log, Report } from './report.ts'
import { routeRequest } from './routing.ts'
import { Running, type RunningCall } from './running.ts'
import { withStoredPrompt } from './stored-prompt.ts'
import { Thoughts } from './thoughts/thoughts.ts'

export { PATIENCE } from '../egress/transport/sse.ts'
export type { ActionName } from '../stored/actions.ts'
export type { TaskAction } from '../tasks/index.ts'
export type { Call, HeaderSource, Reply, Worker } from './call.ts'
export type { ErrorAnswer } from './error-answer.ts'
export { freshId } from './fresh-id.ts'
export { IMAGES_PATH } from './image-delivery.ts'
export type { ModelShape } from './models.ts'
export type { Log } from './report.ts'

/** A request on its way, and whose it is. */
interface Asked extends ReadRequest {
  readonly call: Call
  readonly caller: Caller
  readonly report: Report
  /** The task it submits, where its work is one. */
  readonly submission?: Submission
}

/** Everything between the endpoints and the upstreams: whose request it is, who answers it, and in which words. */
export class Gateway {
  private readonly log: Log
  private readonly access: Access
  private readonly channels: Channels
  /** It is about to leave: no more requests are wanted. */
  leaving = false
  /** Bytes of bodies that are not whole yet, in memory and on disk. */
  readonly waiting: Waiting
  private readonly spooled: Waiting
  private media: Media
  private readonly pictures = new ImageStore()
  private seals: Seals
  private readonly state: State
  private readonly thoughts: Thoughts
  private readonly tasks: VideoTasks
  private readonly running = new Running()
  private readonly lacks = new LogOnce(err => this.log.error({ err }, 'the gateway lacks room'))
  private config: Config

  constructor(config: Config, log: Log) {
    this.config = config
    this.log = log
    this.access = openAccess(config, { onFault: message => log.error({}, message) })
    this.channels = new Channels(config.channels)
    this.waiting = new Waiting(config.server.limits.waiting)
    this.spooled = new Waiting(config.server.limits.spooled)
    this.media = new Media(config.media)
    this.seals = this.sealsIn(config.dataDir)
    this.state = new State(config, log, () => this.channels.all)
    this.thoughts = new Thoughts(config.thoughts, undefined, err => log.error({ err }, 'thoughts cannot be remembered'))
    this.tasks = new VideoTasks(config, { log, channels: () => this.channels.all, store: () => this.state.taskStore })
  }

  /** The journey of one request. Never rejects: whatever goes wrong is answered in the caller's format. */
  async handle(call: Call): Promise<void> {
    const report = new Report(call)
    this.running.add(call)
    try {
      const caller = this.whose(call)
      report.key = caller.key
      report.allowance = this.allowance(caller, call)
      report.allowance.admit()
      const asked: Asked = { ...(await this.read(call, caller)), call, caller, report }
      const { request, session, drop } = asked
      try {
        report.asked(request)
        const most = session === undefined ? mostTokens(call.message) : undefined
        report.allowance.reserve(() => expectedTokens(session?.whole ?? request), most)
        const keeper = request.state?.background === true ? session?.keeper : undefined
        await (keeper === undefined ? this.answer(asked) : this.later(asked, keeper))
      } finally {
        drop?.()
      }
    } catch (thrown) {
      this.fail(call, thrown, report)
    }
    this.running.remove(call)
    this.note(report)
  }

  /** What a key may ask; every answer tells it. */
  private allowance(caller: Caller, { reply, format }: Pick<Call, 'reply' | 'format'>): Allowance {
    const allowance = this.access.allowance(caller)
    reply.headers = new RateHeaders(allowance, format)
    return allowance
  }

  /** What a request came to: its tokens count against its key's limits, and it has a line in the log. */
  private note(report: Report): void {
    report.settle()
    report.write(this.log)
  }

  private async read(call: Call, caller: Caller): Promise<ReadRequest> {
    const { limits } = this.config.server
    const limit = limits.byFormat.get(call.format)
    const read = (wire: WireRequest) => {
      const request = opened(READERS[call.format]!.request!(wire), this.seals.of(caller.id))
      const model = request.output.video?.remixOf === undefined ? request.model : undefined
      checkModels(call.format, wire.body, model, caller.group.models)
      return request
    }
    if (isForm(call)) {
      const flows = (request: CanonicalRequest) => mayFlow(request, () => this.route({ call, caller, request }, 'show'))
      const meters = { memory: () => this.waiting.open(caller.id), disk: () => this.spooled.open(caller.id) }
      return readFormRequest(call, { limit: limit ?? FORM_LIMIT, meters, read, flows })
    }
    const open = () => this.waiting.open(caller.id)
    const wire = call.wire(call.body ?? (await readJson(call.message, limit ?? limits.body, open)))
    const request = read(wire)
    if (call.format !== STATEFUL) return { request }
    return { request, session: await this.state.session(call, caller.id, { wire, request, read }) }
  }

  /** Answers at once that the work is begun, and works on whether the caller stays or not. */
  private async later(asked: Asked, keeper: Keeper): Promise<void> {
    const { call, request } = asked
    this.candidates(asked)
    const begun = { keeper, most: this.state.most, request, store: this.state.kept() }
    const work = await this.state.background.start(begun, reply => this.apart({ ...asked, call: { ...call, reply } }))
    if (request.stream) await play(work, call.reply, -1, this.config.server.heartbeat)
    else call.reply.whole(200, {}, jsonText(work.run.first))
  }

  /** A request nobody waits for, with a line of its own in the log. */
  private async apart({ call, caller, report: { allowance }, ...asked }: Asked): Promise<void> {
    const report = new Report(call)
    report.key = caller.key
    report.allowance = allowance
    report.asked(asked.request)
    await this.answer({ ...asked, call, caller, report }).catch(thrown => this.fail(call, thrown, report))
    this.note(report)
  }

  private async answer(asked: Asked): Promise<void> {
    const { heartbeat, earlyHead } = this.config.server
    const early = earlyHead && mayBeginEarly(asked) ? new EarlyHead(heartbeat) : undefined
    try {
      if (workOf(asked.request) === 'video')
        await this.tasks.submit(asked, (request, submission) =>
          this.attempts({ ...asked, request, submission }, undefined),
        )
      else await this.attempts(asked, early)
    } catch (thrown) {
      const failure = toFailure(thrown)
      if (!asked.call.reply.gone && early?.fail(failure.error) === true) asked.report.unanswered(failure)
      else if (!writeErrorStream({ ...asked, heartbeat }, failure)) throw thrown
    } finally {
      early?.close()
    }
  }

  private async attempts(asked: Asked, early: EarlyHead | undefined): Promise<void> {
    const { call, caller, late, report, session, submission } = asked
    const onLoss = onLossOf(asked)
    if (session?.unkept === true && onLoss === 'refuse') throw UNAVAILABLE
    const { channels, media, running, log } = this
    const thoughts = this.thoughts.of(caller.id)
    await failover(asked, this.candidates(asked, thoughts), {
      ...{ channels, media, running, log },
      shared: {
        ...{ call, early, late, report, onLoss, thoughts, submission },
        seal: this.seals.of(caller.id),
        heartbeat: this.config.server.heartbeat,
      },
      fetching: { reply: call.reply, meter: () => this.waiting.open(caller.id) },
      delivery: request => this.delivery(call, request),
    })
  }

  /** Who can be asked, best first. Throws GatewayError where that is nobody. */
  private candidates(asked: Asked, thoughts = this.thoughts.of(asked.caller.id)): readonly Candidate[] {
    const { call, caller, session, request, submission } = asked
    const whole = session?.whole ?? request
    const routed = withStoredPrompt(this.route({ call, caller, request: whole }, onLossOf(asked)), request)
    const candidates = thoughts?.among(routed, whole) ?? routed
    return (session ?? submission)?.among(candidates) ?? candidates
  }

  /** How pictures are brought to the caller; undefined for any other work. */
  private delivery(call: Call, request: CanonicalRequest): Attempt['deliver'] {
    if (workOf(request) !== 'image') return undefined
    const { publicUrl } = this.config.server
    const how = { call, pictures: this.pictures, publicUrl, fetch: (part: MediaPart) => this.media.fetch(part) }
    return (answered, whole) => deliverImages(answered, { ...how, request: whole })
  }

  /** A picture whose caller wanted an address. */
  picture(token: string): StoredImage | undefined {
    return this.pictures.get(token)
  }

  /** Sends bytes to a caller as they come. Rejects where they break off, or the caller left or takes none of them. */
  pass(reply: Reply, headers: { readonly [name: string]: string }, raw: RawBody): Promise<void> {
    return relay(reply, headers, raw, this.config.server.heartbeat)
  }

  private route(asked: Pick<Asked, 'call' | 'caller' | 'request'>, onLoss: OnLoss): readonly Candidate[] {
    return routeRequest(asked, onLoss, this.channels.all, this.config.models)
  }

  private fail(call: RunningCall, thrown: unknown, report?: Report): void {
    const { id, format, framing, reply } = call
    const { status, headers, text } = this.error(format, thrown, id)
    // What was refused when all was stopped is on its way.
    const isCut = reply.begun && this.running.has(call)
    report?.failed(toFailure(thrown).error, reply.gone ? GONE_STATUS : isCut ? report!.status : status)
    if (reply.gone) return
    if (isCut) reply.destroy()
    else if (!reply.begun) reply.whole(status, headers, framing === 'array' ? `[${text}]` : text)
  }

  /** Whatever was thrown, as an answer of the format. Our own faults are logged, never told. */
  error(format: Format, thrown: unknown, id: string): ErrorAnswer {
    const { error, cause } = toFailure(thrown)
    if (error.kind === 'internal') this.log.error({ id, err: cause }, 'a fault of the gateway')
    else if (error.kind === 'overloaded' && cause !== undefined) this.lacks.say(cause)
    return errorAnswer(format, thrown, id)
  }

  /**
   * The text of the models a key can call, as the page of them that the query says, or of one of them, in the shape
   * asked for.
   *
   * @throws GatewayError as `identify` does, `invalid-request` for a page there cannot be, and `not-found` for a model
   * the key cannot call.
   */
  models(
    call: Pick<Call, 'message' | 'queryKey' | 'reply'>,
    shape: ModelShape,
    query: ModelQuery,
    id?: string,
  ): string {
    const caller = this.whose(call)
    this.allowance(caller, { reply: call.reply, format: shape })
    const usable = usableModels(caller.group.models, this.channels.all)
    return id === undefined
      ? modelList(shape, usable, this.config.models, query)
      : modelRecord(shape, id, usable, this.config.models)
  }

  /** Whose key a request shows. Throws as `models` does. */
  whose(call: Pick<Call, 'message' | 'queryKey'>): Caller {
    return this.access.identify(credentialsOf(call))
  }

  /** Answers what is asked of kept responses and conversations. Never rejects. */
  kept(call: KeptCall): Promise<void> {
    const ask = { state: this.state, heartbeat: this.config.server.heartbeat, limit: this.config.server.limits.body }
    return this.query({ ...call, format: STATEFUL }, call.message.method === 'POST', ({ id }) =>
      keptAnswer(call, { ...ask, owner: id, open: () => this.waiting.open(id) }),
    )
  }

  /** Answers a question about video tasks. Never rejects. */
  task(call: TaskQuery): Promise<void> {
    return this.query(call, false, ({ id }) => this.tasks.query(call, id))
  }

  /** Answers a question that no upstream's model has to answer; `counts` says whether it is one of the key's requests. */
  private async query(
    call: Pick<Call, 'id' | 'format' | 'message' | 'queryKey' | 'reply'>,
    counts: boolean,
    answer: (caller: Caller) => Promise<void>,
  ): Promise<void> {
    const running: RunningCall = { ...call, framing: 'events' }
    this.running.add(running)
    try {
      const caller = this.whose(call)
      const allowance = this.allowance(caller, call)
      if (counts) allowance.admit()
      await answer(caller)
    } catch (thrown) {
      this.fail(running, thrown)
    }
    this.running.remove(running)
  }

  /** Milliseconds after which a caller that takes nothing is gone. */
  get patience(): number {
    return this.config.server.heartbeat * PATIENCE
  }

  /** The gateway has somewhere to send requests. */
  get ready(): boolean {
    return this.config.channels.length > 0
  }

  /** How many channels, and how many models of single channels, rest just now. */
  get resting(): { readonly channels: number; readonly models: number } {
    return this.channels.resting
  }

  /** What is wrong with what the gateway can go on without, by its name. */
  async faults(): Promise<{ readonly [check: string]: string }> {
    const store = await this.state.check()
    return store === undefined ? {} : { store }
  }

  /** Takes another config without dropping a request. */
  reload(config: Config): void {
    this.config = config
    this.access.reload(config)
    this.channels.reload(config.channels)
    this.waiting.limits = config.server.limits.waiting
    this.spooled.limits = config.server.limits.spooled
    this.media = this.media.reloaded(config.media)
    this.state.reload(config)
    this.thoughts.reload(config.thoughts)
    this.tasks.reload(config)
    if (config.dataDir !== this.seals.dataDir) this.seals = this.sealsIn(config.dataDir)
  }

  private sealsIn(dataDir: string): Seals {
    return new Seals(dataDir, err => this.log.error({ err }, 'the key of seals cannot be had'))
  }

  /** Settles when nothing is worked on in the background any more. */
  idle(): Promise<void> {
    return this.state.background.idle()
  }

  /** Ends every answer that is still made, each with an error of its caller's format, and all work in the background. */
  stop(): void {
    this.running.stop((call, why) => this.fail(call, why))
    void this.state.background.close()
  }

  async close(): Promise<void> {
    this.access.close()
    this.pictures.close()
    this.thoughts.close()
    await this.tasks.close()
    await this.state.close()
    await this.channels.close()
    await this.media.close()
  }
}

/** The format whose answers can be asked for again and continued. */
const STATEFUL = 'responses'

const onLossOf = ({ call, caller }: Asked): OnLoss =>
  call.message.headers['interlingua-on-loss'] === 'refuse' ? 'refuse' : caller.group.onLoss

const GONE_STATUS = ERRORS.cancelled.status

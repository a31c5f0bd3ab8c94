import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Caller } from '../access/index.ts'
import { GatewayError } from '../canonical/error.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { isFinal, type TaskVariant } from '../canonical/task.ts'
import { Downloads } from '../channel/download.ts'
import { type Channel, type Headers, single } from '../channel/index.ts'
import type { Config } from '../config/index.ts'
import { jsonText } from '../egress/transport/json.ts'
import type { Call } from '../gateway/call.ts'
import { addressOf } from '../gateway/image-delivery.ts'
import type { Log } from '../gateway/report.ts'
import { fitnessOf } from '../providers/index.ts'
import type { StoredTask } from '../store/tasks.ts'
import { type StoreView, UNAVAILABLE } from '../stored/index.ts'
import { GONE_THERE, type OpenedFile, openUpstream } from './content.ts'
import { KeptFiles } from './kept-files.ts'
import { checkPictures } from './pictures.ts'
import { Poller } from './poller.ts'
import { answerQuery, type QueryRoom, type TaskQuery, taskBody, unknownTask } from './queries.ts'
import { Refresher } from './refresher.ts'
import { remixRequest } from './remix.ts'
import { isRepeated, REUSED } from './repeated.ts'
import { Submission } from './submission.ts'
import { upstreamOf } from './task-upstream.ts'
import { askRemoval } from './upstream.ts'

export type { TaskAction, TaskQuery } from './queries.ts'

/** Milliseconds for which a task is stored, unless its video is kept for longer. */
const LIFETIME = 30 * 24 * 3_600_000
/** The longest idempotency key. */
const LONGEST_KEY = 255

type Settings = Pick<Config, 'dataDir' | 'tasks' | 'media' | 'server'>

interface Surroundings {
  readonly log: Log
  readonly channels: () => readonly Channel[]
  readonly store: () => StoreView
}

/** A submit, and whose it is. */
interface Order {
  readonly call: Call
  readonly caller: Pick<Caller, 'id'>
  readonly request: CanonicalRequest
}

/** Sends the submit on its way through routing and failover. */
type Send = (request: CanonicalRequest, submission: Submission) => Promise<void>

/** Video tasks: their submits, their states, their files. */
export class VideoTasks {
  private config: Settings
  private readonly surroundings: Surroundings
  private readonly refresher: Refresher
  private readonly poller: Poller
  private readonly files: KeptFiles
  private downloads: Downloads
  /** Ids of tasks this process submits just now. */
  private readonly submitted = new Set<string>()
  /** The last submit on its way of each owner and idempotency key: those of one key go one after the other. */
  private readonly keyed = new Map<string, Promise<void>>()

  constructor(config: Settings, surroundings: Surroundings) {
    const { log, channels, store } = surroundings
    this.config = config
    this.surroundings = surroundings
    this.downloads = new Downloads(config.media.allow)
    const shared = { store: () => store().tasks, now: Date.now, poll: () => this.config.tasks.poll }
    this.refresher = new Refresher({ ...shared, channels, log, isSubmitted: task => this.isSubmitted(task) })
    this.files = new KeptFiles({
      ...shared,
      limits: () => this.config.tasks,
      folder: () => join(this.config.dataDir, 'videos'),
      worker: () => this.worker,
      isAlive: worker => store().liveness.isAlive(worker),
      open: task => this.openUpstream(task, 'video', {}),
      onFault: ({ id, channel }, err) => log.warn({ task: id, channel, err }, 'a video could not be kept'),
    })
    this.poller = new Poller({
      ...shared,
      refresher: this.refresher,
      channels: () => channels().map(({ config }) => config.name),
      hasStore: () => existsSync(store().path),
      keepFiles: () => this.files.tend(),
      onFault: err => log.error({ err }, 'tasks could not be looked at'),
    })
    this.begin()
  }

  /**
   * Submits a task and answers its caller with it. A caller that repeats an idempotency key gets the first task.
   *
   * @throws GatewayError as `send` does, and for a remix or a picture that cannot be.
   */
  submit(order: Order, send: Send): Promise<void> {
    const key = keyOf(order.call)
    if (key === undefined) return this.make(order, send)
    const name = `${order.caller.id}\n${key}`
    const made = (this.keyed.get(name) ?? Promise.resolve()).then(() => this.once(order, key, send))
    const settled = made
      .catch(() => {})
      .then(() => {
        if (this.keyed.get(name) === settled) this.keyed.delete(name)
      })
    this.keyed.set(name, settled)
    return made
  }

  /** Answers a question about tasks. Throws GatewayError. */
  query(call: TaskQuery, owner: string): Promise<void> {
    const room: QueryRoom = {
      ...{ owner, base: this.base(call), heartbeat: this.config.server.heartbeat },
      fresh: this.refresher.fresh,
      find: (owner, id) => this.find(owner, id),
      list: (owner, page) => this.store.list(owner, page),
      remove: task => this.remove(task),
      open: (task, variant, headers) => this.open(task, variant, headers),
    }
    return answerQuery(call, room)
  }

  reload(config: Settings): void {
    if (JSON.stringify(config.media.allow) !== JSON.stringify(this.config.media.allow)) {
      void this.downloads.close()
      this.downloads = new Downloads(config.media.allow)
    }
    this.config = config
    this.begin()
  }

  async close(): Promise<void> {
    this.refresher.close()
    this.files.close()
    await this.poller.close()
    await this.downloads.close()
  }

  /** The background works where a channel makes videos: elsewhere the store stays closed. */
  private begin(): void {
    const makes = ({ config }: Channel): boolean =>
      config.formats.some(({ format, dialect }) => fitnessOf(format, 'video', dialect) !== undefined)
    if (this.surroundings.channels().some(makes)) this.poller.start()
  }

  /** As `make`, unless there is a task of the key already. */
  private async once(order: Order, key: string, send: Send): Promise<void> {
    const first = await this.store.findByKey(order.caller.id, key)
    if (first === undefined) return this.make(order, send, key)
    if (!isRepeated(first, order.request)) throw REUSED
    this.answer(order.call, first)
  }

  private async make(
    { call, caller: { id: owner }, request }: Order,
    send: Send,
    idempotencyKey?: string,
  ): Promise<void> {
    checkPictures(request, this.config.media.limit)
    const { remixOf } = request.output.video ?? {}
    const origin = remixOf === undefined ? undefined : await this.find(owner, remixOf)
    if (remixOf !== undefined && origin === undefined) throw unknownTask(remixOf)
    const actual = origin === undefined ? request : remixRequest(request, origin, this.surroundings.channels())
    const submission = new Submission({
      ...{ store: this.store, owner, request: actual, worker: this.worker, now: Date.now() },
      ...{ lifetime: Math.max(LIFETIME, this.config.tasks.keep), base: this.base(call) },
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...(origin === undefined ? {} : { origin }),
    })
    await this.follow(call, submission, () => send(actual, submission))
  }

  /** Has a submit made, and settles what it leaves open. */
  private async follow(call: Call, submission: Submission, send: () => Promise<void>): Promise<void> {
    this.submitted.add(submission.id)
    try {
      await send()
    } catch (thrown) {
      this.submitted.delete(submission.id)
      const open = await submission.ends()
      const found = open && (await this.refresher.reconcile(open).catch(() => undefined))
      if (found?.upstreamId === undefined || call.reply.begun || call.reply.gone) throw thrown
      this.answer(call, found)
    } finally {
      this.submitted.delete(submission.id)
    }
  }

  /** A task of the key, in the state its upstream has it in. */
  private async find(owner: string, id: string): Promise<StoredTask | undefined> {
    const task = await this.store.find(owner, id)
    return task && this.refresher.refresh(task)
  }

  private async remove(task: StoredTask): Promise<void> {
    if (task.state === 'submitting' || !isFinal(task.state)) throw unfinished(task)
    const upstream = task.upstreamId === undefined ? undefined : upstreamOf(task, this.surroundings.channels())
    if (upstream !== undefined) await askRemoval(upstream)
    if (task.fileSize !== undefined) await this.files.remove(task)
    await this.store.drop(task.owner, task.id)
  }

  private async open(task: StoredTask, variant: TaskVariant, headers: Headers): Promise<OpenedFile> {
    const kept = variant === 'video' ? await this.files.open(task, headers) : undefined
    if (kept !== undefined) return kept
    const file = this.openUpstream(task, variant, headers)
    if (file === undefined) throw GONE_THERE
    return file
  }

  private openUpstream(task: StoredTask, variant: TaskVariant, headers: Headers): Promise<OpenedFile> | undefined {
    const upstream = upstreamOf(task, this.surroundings.channels())
    return upstream && openUpstream(upstream, variant, headers, this.downloads)
  }

  /** Whether a living process still submits the task. */
  private isSubmitted({ id, worker }: StoredTask): boolean {
    const { liveness } = this.surroundings.store()
    return worker === liveness.id ? this.submitted.has(id) : liveness.isAlive(worker) === true
  }

  private answer(call: Call, task: StoredTask): void {
    call.reply.whole(200, {}, jsonText(taskBody(task, call.format, this.base(call))))
  }

  private base(call: Pick<Call, 'message'>): string {
    return this.config.server.publicUrl ?? addressOf(call)
  }

  private get store() {
    return this.surroundings.store().tasks
  }

  private get worker(): string {
    const { liveness } = this.surroundings.store()
    try {
      liveness.open()
    } catch {
      throw UNAVAILABLE
    }
    return liveness.id
  }
}

/** The name a caller gives its submit. Throws GatewayError `invalid-request` for one that is too long. */
function keyOf({ message }: Call): string | undefined {
  const key = single(message.headers['idempotency-key'])
  if (key.length > LONGEST_KEY)
    throw new GatewayError({
      kind: 'invalid-request',
      message: `idempotency-key: at most ${LONGEST_KEY} characters.`,
      param: 'idempotency-key',
    })
  return key === '' ? undefined : key
}

const unfinished = ({ state }: StoredTask): GatewayError =>
  new GatewayError({
    kind: 'conflict',
    message: `A video can be deleted once it is completed or failed: its status is \`${state === 'in-progress' ? 'in_progress' : 'queued'}\`.`,
    code: 'video_not_finished',
  })

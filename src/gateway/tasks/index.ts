import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Caller } from '../../accounts/index.ts'
import { GatewayError, invalid } from '../../canonical/error.ts'
import { defined } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { TaskVariant } from '../../canonical/task.ts'
import type { Config } from '../../config/index.ts'
import { fitnessOf } from '../../formats/index.ts'
import type { Log } from '../../log.ts'
import { ignoringOutages, UNAVAILABLE } from '../../store/fault.ts'
import type { StoreView } from '../../store/lazy-store.ts'
import { isEnded, type StoredTask } from '../../store/tasks.ts'
import { Downloads } from '../../upstreams/channel/download.ts'
import { type Channel, type Headers, headerValue } from '../../upstreams/channel/index.ts'
import type { Call } from '../call.ts'
import { type OpenedFile, openUpstream, VIDEO_GONE } from './content.ts'
import { checkImages } from './images.ts'
import { KeyedLock } from './keyed-lock.ts'
import { Poller } from './poller.ts'
import { answerQuery, type QueryContext, type TaskQuery, taskBody, unknownTask } from './queries.ts'
import { Refresher } from './refresher.ts'
import { remixRequest } from './remix.ts'
import { isRepeated, KEY_REUSED } from './repeated.ts'
import { StoredFiles } from './stored-files.ts'
import { Submission } from './submission.ts'
import { upstreamOf } from './task-upstream.ts'
import { requestRemoval } from './upstream-requests.ts'

export type { TaskAction, TaskQuery } from './queries.ts'

/** Retention time of a task, unless its video is stored longer, in milliseconds. */
const TASK_LIFETIME = 30 * 24 * 3_600_000
/** Maximum length of an idempotency key, in characters. */
const MAX_KEY_LENGTH = 255

/** Time after which a submission of a process that may be dead has ended, in milliseconds. */
const MAX_SUBMISSION_MS = 120_000

type Settings = Pick<Config, 'dataDir' | 'tasks' | 'media' | 'server'>

interface Environment {
  readonly log: Log
  /** Returns true if this process polls tasks in the background. One process per machine does. */
  isLeader(): boolean
  readonly channels: () => readonly Channel[]
  readonly store: () => StoreView
  /** Returns the base URL at which the caller of a request reaches the gateway. */
  readonly baseOf: (message: Call['message']) => string
}

/** A request for a video task, with its caller. */
interface SubmitRequest {
  readonly call: Call
  readonly caller: Pick<Caller, 'id'>
  readonly request: CanonicalRequest
}

/** Video tasks: submits them, answers queries about them, and serves their files. */
export class VideoTasks {
  private config: Settings
  private readonly environment: Environment
  private readonly refresher: Refresher
  private readonly poller: Poller
  private readonly files: StoredFiles
  private downloads: Downloads
  /** Ids of the tasks that this process is submitting. */
  private readonly submittingIds = new Set<string>()
  /** Serializes submissions with the same owner and idempotency key. */
  private readonly keyLock = new KeyedLock()

  constructor(config: Settings, environment: Environment) {
    const { log, channels, store } = environment
    this.config = config
    this.environment = environment
    this.downloads = new Downloads(config.media.allow, config.media.proxy)
    const shared = {
      ...{ store: () => store().tasks, now: () => store().now(), deletionTime: () => store().deletionTime() },
      poll: () => this.config.tasks.poll,
    }
    this.refresher = new Refresher({ ...shared, channels, log, isSubmitted: task => this.isSubmitted(task) })
    const logUnstored = ignoringOutages((err, { id, channel }: StoredTask) =>
      log.warn({ task: id, channel, err }, 'a video could not be stored'),
    )
    this.files = new StoredFiles({
      ...shared,
      limits: () => this.config.tasks,
      folder: () => join(this.config.dataDir, 'videos'),
      worker: () => this.worker(),
      isAlive: worker => store().liveness.isAlive(worker),
      open: task => this.openUpstream(task, 'video', {}),
      onFault: (task, thrown) => logUnstored(thrown, task),
    })
    this.poller = new Poller({
      ...shared,
      refresher: this.refresher,
      channels: () => channels().map(({ config }) => config.name),
      hasStore: () => environment.isLeader() && store().exists(),
      maintainFiles: () => this.files.maintain(),
      onFault: ignoringOutages(err => log.error({ err }, 'video tasks could not be polled')),
    })
    this.startPolling()
  }

  /**
   * Prepares the submission of a task, which is then tried like any request. Call `end` afterwards. If the idempotency
   * key is repeated, answers with the first task and returns undefined.
   *
   * @throws GatewayError `invalid-request` for an invalid remix or image, or a key that was used for another request.
   */
  async prepare({ call, caller, request }: SubmitRequest): Promise<Submission | undefined> {
    const key = keyOf(call)
    const release = key === undefined ? undefined : await this.keyLock.take(`${caller.id}\n${key}`)
    try {
      const existingTask = key === undefined ? undefined : await this.store.findByKey(caller.id, key)
      if (existingTask === undefined) {
        const submission = await this.submission(request, caller.id, this.base(call), key, release)
        this.submittingIds.add(submission.id)
        return submission
      }
      if (!isRepeated(existingTask, request)) throw KEY_REUSED
      this.answer(call, existingTask)
    } catch (thrown) {
      release?.()
      throw thrown
    }
    release?.()
    return undefined
  }

  /**
   * Settles a failed submission: looks up the task at the upstream and, if it exists there, answers the caller with it.
   *
   * @throws the failure if the upstream does not have the task.
   */
  async reconcile(submission: Submission, call: Call, failure: unknown): Promise<void> {
    this.submittingIds.delete(submission.id)
    const open = await submission.finish()
    const found = open && (await this.refresher.reconcile(open).catch(() => undefined))
    if (found?.upstreamId === undefined || call.reply.started || call.reply.gone) throw failure
    this.answer(call, found)
  }

  /** Ends a submission and admits the next one with the same key. */
  end({ id, release }: Submission): void {
    this.submittingIds.delete(id)
    release?.()
  }

  /** Answers a query about tasks. Rejects with GatewayError. */
  query(call: TaskQuery, owner: string): Promise<void> {
    const context: QueryContext = {
      ...{ owner, base: this.base(call), heartbeat: this.config.server.heartbeat },
      freshOf: task => this.refresher.freshOf(task),
      find: (owner, id) => this.find(owner, id),
      list: (owner, page) => this.store.list(owner, page),
      remove: task => this.remove(task),
      open: (task, variant, headers) => this.open(task, variant, headers),
    }
    return answerQuery(call, context)
  }

  reload(config: Settings): void {
    const { allow, proxy } = this.config.media
    if (!isDeepStrictEqual([config.media.allow, config.media.proxy], [allow, proxy])) {
      void this.downloads.close()
      this.downloads = new Downloads(config.media.allow, config.media.proxy)
    }
    this.config = config
    this.startPolling()
  }

  async close(): Promise<void> {
    this.refresher.close()
    this.files.close()
    await this.poller.close()
    await this.downloads.close()
  }

  /** Starts background polling if a channel makes videos. Without one, the store stays closed. */
  private startPolling(): void {
    const makesVideos = ({ config }: Channel): boolean =>
      config.formats.some(({ format, dialect }) => fitnessOf(format, 'video', dialect) !== undefined)
    if (this.environment.channels().some(makesVideos)) this.poller.start()
  }

  private async submission(
    request: CanonicalRequest,
    owner: string,
    base: string,
    idempotencyKey: string | undefined,
    release: (() => void) | undefined,
  ): Promise<Submission> {
    checkImages(request, this.config.media.limit)
    const { remixOf } = request.output.video ?? {}
    const original = remixOf === undefined ? undefined : await this.find(owner, remixOf)
    if (remixOf !== undefined && original === undefined) throw unknownTask(remixOf)
    const actualRequest =
      original === undefined ? request : remixRequest(request, original, this.environment.channels())
    return new Submission({
      ...{ store: this.store, owner, request: actualRequest, worker: await this.worker() },
      now: this.environment.store().now(),
      ...{ lifetime: Math.max(TASK_LIFETIME, this.config.tasks.retention), base },
      ...defined({ idempotencyKey, release, original }),
    })
  }

  /** Finds one of the owner's tasks and refreshes its state. */
  private async find(owner: string, id: string): Promise<StoredTask | undefined> {
    const task = await this.store.find(owner, id)
    return task && this.refresher.refresh(task)
  }

  private async remove(task: StoredTask): Promise<void> {
    if (!isEnded(task)) throw notFinished(task)
    const upstream = task.upstreamId === undefined ? undefined : upstreamOf(task, this.environment.channels())
    if (upstream !== undefined) await requestRemoval(upstream)
    // The task is dropped first, so that a process that is still downloading its video notices and deletes the file.
    await this.store.drop(task.owner, task.id)
    await this.files.discard(task)
  }

  private async open(task: StoredTask, variant: TaskVariant, headers: Headers): Promise<OpenedFile> {
    const stored = variant === 'video' ? await this.files.open(task, headers) : undefined
    if (stored !== undefined) return stored
    const file = this.openUpstream(task, variant, headers)
    if (file === undefined) throw VIDEO_GONE
    return file
  }

  private openUpstream(task: StoredTask, variant: TaskVariant, headers: Headers): Promise<OpenedFile> | undefined {
    const upstream = upstreamOf(task, this.environment.channels())
    return upstream && openUpstream(upstream, variant, headers, this.downloads)
  }

  /** Returns true if a live process is still submitting the task. */
  private async isSubmitted({ id, worker, createdAt }: StoredTask): Promise<boolean> {
    const { liveness, now } = this.environment.store()
    if (worker === liveness.id) return this.submittingIds.has(id)
    return (await liveness.isAlive(worker)) ?? now() - createdAt < MAX_SUBMISSION_MS
  }

  private answer(call: Call, task: StoredTask): void {
    call.reply.whole(200, {}, JSON.stringify(taskBody(task, call.format, this.base(call))))
  }

  private base(call: Pick<Call, 'message'>): string {
    return this.environment.baseOf(call.message)
  }

  private get store() {
    return this.environment.store().tasks
  }

  private async worker(): Promise<string> {
    const { liveness } = this.environment.store()
    try {
      await liveness.open()
    } catch {
      throw UNAVAILABLE
    }
    return liveness.id
  }
}

/** Returns the caller's idempotency key. Throws GatewayError `invalid-request` if it is too long. */
function keyOf({ message }: Call): string | undefined {
  const key = headerValue(message.headers['idempotency-key'])
  if (key.length > MAX_KEY_LENGTH)
    throw invalid(`idempotency-key: at most ${MAX_KEY_LENGTH} characters.`, 'idempotency-key')
  return key === '' ? undefined : key
}

const notFinished = ({ state }: StoredTask): GatewayError =>
  new GatewayError({
    kind: 'conflict',
    message: `A video can be deleted once it is completed or failed: its status is \`${state === 'in-progress' ? 'in_progress' : 'queued'}\`.`,
    code: 'video_not_finished',
  })

import type { CanonicalResult } from '../../canonical/result.ts'
import { isFinal, type TaskFailure } from '../../canonical/task.ts'
import type { Log } from '../../log.ts'
import { CLOCK_DIFFERENCE } from '../../store/store-clock.ts'
import { isEnded, type StoredTask, type Tasks } from '../../store/tasks.ts'
import type { Channel } from '../../upstreams/channel/index.ts'
import { logMessage, toFailure } from '../failures.ts'
import { storable } from './public-task.ts'
import { type TaskUpstream, targetOf, upstreamOf } from './task-upstream.ts'
import { requestState } from './upstream-requests.ts'

/** Maximum time for which a state counts as current, in milliseconds. */
const FRESH_TIME = 5000
/** Like `FRESH_TIME`, but for recorded tasks, whose next recorded state appears with each poll. */
const RECORDED_FRESH_TIME = 500
/** Number of consecutive not-found answers after which a task counts as lost. */
const MAX_MISSES = 3
/** Age at which an unfinished task fails, in milliseconds. */
const MAX_AGE = 24 * 3_600_000
/** Time for which an upstream is searched for a submission that it did not answer, in milliseconds. */
const RECONCILE_WINDOW = 10 * 60_000

export interface RefresherOptions {
  readonly store: () => Tasks
  readonly channels: () => readonly Channel[]
  readonly log: Log
  readonly now: () => number
  /** Returns the time by which a task is overdue, because a clock may be ahead for a moment (`StoreClock`). */
  readonly deletionTime: () => number
  /** Returns the interval between two background polls of a task, in milliseconds. 0 if there are none. */
  readonly poll: () => number
  /** Returns true if a process is still submitting the task. */
  isSubmitted(task: StoredTask): Promise<boolean>
}

/** Refreshes stored tasks from their upstreams, each at most once per interval (`freshOf`). */
export class Refresher {
  private readonly options: RefresherOptions
  /** Polls in progress by task id, shared by concurrent callers. */
  private readonly polling = new Map<string, Promise<StoredTask>>()

  private readonly closing = new AbortController()

  constructor(options: RefresherOptions) {
    this.options = options
  }

  /** Aborts all running polls. */
  close(): void {
    this.closing.abort()
  }

  /**
   * Returns the task's current state, or the last known state if the upstream cannot be reached. Rejects if the store
   * fails.
   */
  refresh(task: StoredTask): Promise<StoredTask> {
    if (isEnded(task)) return Promise.resolve(task)
    const now = this.options.now()
    const polledBefore = now - this.freshOf(task)
    if (task.polledAt > polledBefore && task.polledAt <= now + CLOCK_DIFFERENCE) return Promise.resolve(task)
    return this.polling.get(task.id) ?? this.startPoll(task, polledBefore)
  }

  /** Polls a task that is not being polled. */
  private startPoll(task: StoredTask, polledBefore: number): Promise<StoredTask> {
    const poll = this.poll(task, polledBefore).finally(() => this.polling.delete(task.id))
    this.polling.set(task.id, poll)
    return poll
  }

  /** Minimum interval between polls in milliseconds: five seconds, or the background interval if shorter. */
  get fresh(): number {
    return Math.min(FRESH_TIME, this.options.poll() || FRESH_TIME)
  }

  /** Minimum interval between polls of a task, in milliseconds. */
  freshOf({ channel }: StoredTask): number {
    const isRecorded =
      this.options.channels().find(({ config }) => config.name === channel)?.config.provider === 'replay'
    return isRecorded ? RECORDED_FRESH_TIME : this.fresh
  }

  /**
   * Settles a task whose submission was not answered: searches for the task if the upstream supports this, or else
   * fails it.
   */
  async reconcile(task: StoredTask): Promise<StoredTask> {
    const upstream = upstreamOf(task, this.options.channels())
    if (!canFind(task, upstream) || this.options.deletionTime() - task.createdAt >= RECONCILE_WINDOW)
      return this.fail(task, UNANSWERED)
    // The background may be searching for the task already.
    const found = await this.polling.get(task.id)
    return found === undefined || found.state === 'submitting' ? this.startPoll(task, this.options.now()) : found
  }

  /**
   * Polls a task.
   *
   * @param polledBefore time in Unix milliseconds. A task that was polled later is left unchanged.
   */
  private async poll(task: StoredTask, polledBefore: number): Promise<StoredTask> {
    const { options } = this
    if (task.state === 'submitting') {
      if (await options.isSubmitted(task)) return task
      // The submission may have ended since the task was read.
      const current = await this.reload(task)
      if (current.state !== 'submitting') return current
    }
    const now = options.now()
    const upstream = upstreamOf(task, options.channels())
    const age = options.deletionTime() - task.createdAt
    const isOverdue = age > MAX_AGE
    // Another process may still have the channel and be polling the task.
    if (upstream === undefined && task.state !== 'submitting') return isOverdue ? this.fail(task, TIMED_OUT) : task
    if (!(await options.store().claim(task.owner, task.id, now, polledBefore))) return this.reload(task)
    if (task.state === 'submitting') {
      if (!canFind(task, upstream) || age > RECONCILE_WINDOW) return this.fail(task, UNANSWERED)
    }
    if (upstream === undefined) return task
    try {
      const result = await requestState(upstream, this.closing.signal)
      const updated = await this.advance(task, storable(result, targetOf(upstream), task), result, now)
      return isOverdue && updated.state !== 'submitting' && !isFinal(updated.state)
        ? await this.fail(updated, TIMED_OUT)
        : updated
    } catch (thrown) {
      if (this.closing.signal.aborted) return task
      const { error } = toFailure(thrown)
      const fields = {
        task: task.id,
        channel: task.channel,
        kind: error.kind,
        said: logMessage(error, targetOf(upstream)),
      }
      options.log.warn(fields, 'the state of a task could not be read')
      if (error.kind === 'not-found') return this.recordMiss(task)
      return isOverdue ? this.fail(task, TIMED_OUT) : task
    }
  }

  private async recordMiss(task: StoredTask): Promise<StoredTask> {
    if (task.misses + 1 >= MAX_MISSES) return this.fail(task, task.state === 'submitting' ? UNSENT : LOST)
    await this.options.store().miss(task.owner, task.id)
    return { ...task, misses: task.misses + 1 }
  }

  private async advance(
    task: StoredTask,
    stored: CanonicalResult,
    { id, task: update }: CanonicalResult,
    polledAt: number,
  ): Promise<StoredTask> {
    if (update === undefined) return task
    const upstreamId = task.upstreamId ?? id
    const change = {
      state: update.state,
      result: mergedResult(task.result, stored),
      ...(upstreamId && { upstreamId }),
      polledAt,
    }
    const hasAdvanced = await this.options.store().advance(task.owner, task.id, change)
    if (!hasAdvanced) return this.reload(task)
    const updated = { ...task, ...change }
    if (isFinal(update.state)) this.logEnd(updated)
    return updated
  }

  private async fail(task: StoredTask, failure: TaskFailure): Promise<StoredTask> {
    const result: CanonicalResult = { ...task.result, task: { ...task.result.task, state: 'failed', failure } }
    const hasAdvanced = await this.options.store().advance(task.owner, task.id, { state: 'failed', result })
    if (!hasAdvanced) return this.reload(task)
    const updated: StoredTask = { ...task, state: 'failed', result }
    this.logEnd(updated)
    return updated
  }

  /** Reads the task again, because another process changed it. */
  private async reload(task: StoredTask): Promise<StoredTask> {
    return (await this.options.store().find(task.owner, task.id)) ?? task
  }

  private logEnd({ id, model, channel, state, result, createdAt }: StoredTask): void {
    const { seconds, failure } = result.task ?? {}
    const fields = { task: id, model, channel, state, failure: failure?.kind, video_seconds: seconds }
    this.options.log.info({ ...fields, ms: this.options.now() - createdAt }, 'task')
  }
}

/** Returns true if the upstream can find a task by its reference. */
const canFind = ({ reference }: StoredTask, upstream: TaskUpstream | undefined): boolean =>
  upstream?.writer.find !== undefined && reference !== undefined

/** Merges two answers. Fields that the later answer lacks stay, and progress never decreases. */
function mergedResult(polledBefore: CanonicalResult, now: CanonicalResult): CanonicalResult {
  const task = { ...polledBefore.task, ...now.task! }
  const [earlier = 0, later = 0] = [polledBefore.task?.progress, now.task?.progress]
  return { ...polledBefore, ...now, task: { ...task, ...(earlier > later ? { progress: earlier } : {}) } }
}

const broken = (code: string, message: string): TaskFailure => ({ kind: 'broken', code, message })
const UNANSWERED = broken(
  'submit_unanswered',
  'The upstream did not answer the submission. It may have accepted the task, so the task was not submitted again.',
)
const UNSENT = broken('submit_lost', 'The submission did not reach the upstream. The task was not submitted again.')
const LOST = broken('task_lost', 'The upstream no longer has this task.')
const TIMED_OUT = broken('task_timed_out', 'The upstream did not finish within a day.')

import type { Format } from '../canonical/node.ts'
import type { Output } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import { isFinal, type TaskState, type UpstreamTask } from '../canonical/task.ts'

/** State of a stored task: `submitting` until the upstream accepts it. */
export type StoredState = 'submitting' | TaskState

/** The upstream that works on a task. */
export interface TaskTarget {
  readonly channel: string
  readonly format: Format
  readonly upstreamModel: string
}

/** A task of one key. Times are Unix milliseconds. */
export interface StoredTask extends TaskTarget {
  readonly owner: string
  /** Public id, the only one that callers see. */
  readonly id: string
  /** Public model id. */
  readonly model: string
  readonly state: StoredState
  /** The upstream's id for the task, present once the upstream has accepted it. */
  readonly upstreamId?: string
  /** The input of the video. */
  readonly from: UpstreamTask['from']
  /** Output settings of the request. `prompt` is its prompt. */
  readonly output: Output
  readonly prompt?: string
  /** The upstream's latest answer. */
  readonly result: CanonicalResult
  /** The caller's `idempotency-key`, unique among the owner's tasks. */
  readonly idempotencyKey?: string
  /** Reference by which the upstream can find the task if its id was never received. */
  readonly reference?: string
  /** Public id of the task whose video this one remixes. */
  readonly remixOf?: string
  /** Id of the process that submits the task. */
  readonly worker: string
  readonly createdAt: number
  /** Time of the last poll of the upstream. */
  readonly polledAt: number
  /** Number of consecutive polls in which the upstream did not recognise the task. */
  readonly misses: number
  /** Time after which the row may be deleted. */
  readonly expiresAt: number
  /** Size of the stored video in bytes. 0 if the video will not be stored. */
  readonly fileSize?: number
}

/** Returns true if the state is final. */
export const isEnded = ({ state }: Pick<StoredTask, 'state'>): boolean => state !== 'submitting' && isFinal(state)

/** Size, order and position of one page of a list. */
export interface TaskPage {
  readonly limit: number
  readonly order: 'asc' | 'desc'
  /** Id of the last task of the previous page. */
  readonly after: string | undefined
}

/** Tasks of all keys. The state never moves backwards, and a final state never changes. */
export interface Tasks {
  /** Stores a task before its submission. Returns false if the owner already has a task with that idempotency key. */
  begin(task: StoredTask): Promise<boolean>
  /** Records that an unsubmitted task moves to another upstream. */
  move(owner: string, id: string, target: TaskTarget & Pick<StoredTask, 'reference'>): Promise<void>
  find(owner: string, id: string): Promise<StoredTask | undefined>
  findByKey(owner: string, idempotencyKey: string): Promise<StoredTask | undefined>
  /** Returns a page of the owner's tasks and whether more follow, or undefined if the task `after` is unknown. */
  list(
    owner: string,
    page: TaskPage,
  ): Promise<{ readonly tasks: readonly StoredTask[]; readonly more: boolean } | undefined>
  /**
   * Stores the upstream's answer to a submission or a poll. False if the stored state is already further, or for an
   * unfinished task if a later poll was claimed: its answer is newer.
   */
  advance(owner: string, id: string, news: TaskNews): Promise<boolean>
  /**
   * Claims the next poll of a task. Only one of several processes succeeds. A poll of the far future has the time of a
   * wrong clock and does not count.
   *
   * @param before the claim fails if the last poll was after this time.
   */
  claim(owner: string, id: string, now: number, before: number): Promise<boolean>
  /** Counts a poll in which the upstream did not recognise the task. */
  miss(owner: string, id: string): Promise<void>
  /**
   * Returns unfinished tasks of the given channels whose last poll is at least `interval` milliseconds ago, least
   * recently polled first. A poll of the far future has the time of a wrong clock and does not count.
   */
  due(now: number, interval: number, limit: number, channels: readonly string[]): Promise<readonly StoredTask[]>
  /** Returns tasks whose submission has no answer yet. */
  submitting(): Promise<readonly StoredTask[]>
  /** Returns completed tasks created since a time whose video is not stored yet: the oldest of each channel. */
  withoutVideo(since: number, limit: number): Promise<readonly StoredTask[]>
  /** Returns tasks whose video is stored, oldest first. */
  withFiles(): Promise<readonly StoredTask[]>
  /**
   * Records the size of the stored video: 0 if it will not be stored, undefined if it was deleted. Returns false if the
   * task is unknown.
   */
  setFileSize(owner: string, id: string, size: number | undefined): Promise<boolean>
  /** Records that the video will not be stored, unless it already is. */
  skipFile(owner: string, id: string): Promise<void>
  drop(owner: string, id: string): Promise<void>
}

/** New state of a task, from an answer of the upstream. */
export interface TaskNews {
  readonly state: TaskState
  readonly result: CanonicalResult
  readonly upstreamId?: string
  /** Time of the poll that was claimed for this answer. Absent for a submission. */
  readonly polledAt?: number
}

import type { Format } from '../canonical/node.ts'
import type { Output } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import { isFinal, type TaskState, type UpstreamTask } from '../canonical/task.ts'

/** The states of a stored task: before its submit was answered, it is `submitting`. */
export type StoredState = 'submitting' | TaskState

/** Where a task is worked on. */
export interface TaskPlace {
  readonly channel: string
  readonly format: Format
  readonly upstreamModel: string
}

/** A task of one key. Times are Unix milliseconds. */
export interface StoredTask extends TaskPlace {
  readonly owner: string
  /** The public id: no other is ever shown. */
  readonly id: string
  /** The public model id. */
  readonly model: string
  readonly state: StoredState
  /** The upstream's id, once it has answered the submit. */
  readonly upstreamId?: string
  readonly from: UpstreamTask['from']
  /** The request's output settings and prompt. */
  readonly output: Output
  readonly prompt?: string
  /** The latest answer of the upstream. */
  readonly result: CanonicalResult
  /** The caller's `idempotency-key`, unique among the owner's tasks. */
  readonly idempotencyKey?: string
  /** The name under which the upstream finds the task without its id. */
  readonly reference?: string
  /** The public id of the task whose video this one changes. */
  readonly remixOf?: string
  /** The process that submits it. */
  readonly worker: string
  readonly createdAt: number
  /** When the upstream was last polled. */
  readonly polledAt: number
  /** Consecutive answers of the upstream that it has no such task. */
  readonly misses: number
  /** When the row may be deleted. */
  readonly expiresAt: number
  /** Bytes of the finished video, once it is kept here; 0 where it is not going to be. */
  readonly fileSize?: number
}

/** Whether nothing changes the task's state any more. */
export const isEnded = ({ state }: Pick<StoredTask, 'state'>): boolean => state !== 'submitting' && isFinal(state)

/** Which part of a list is wanted. */
export interface TaskPage {
  readonly limit: number
  readonly order: 'asc' | 'desc'
  /** The id behind which it continues. */
  readonly after: string | undefined
}

/** Tasks of all keys. Nothing brings a task back to an earlier state, and nothing changes one in a final state. */
export interface Tasks {
  /** Stores a task before it is submitted; false where the owner has one of its idempotency key. */
  begin(task: StoredTask): Promise<boolean>
  /** Stores that the task, still unsubmitted, goes to another upstream. */
  move(owner: string, id: string, place: TaskPlace & Pick<StoredTask, 'reference'>): Promise<void>
  find(owner: string, id: string): Promise<StoredTask | undefined>
  findByKey(owner: string, idempotencyKey: string): Promise<StoredTask | undefined>
  /** A page of the owner's tasks, and whether more follow; undefined where there is no task `after`. */
  list(
    owner: string,
    page: TaskPage,
  ): Promise<{ readonly tasks: readonly StoredTask[]; readonly more: boolean } | undefined>
  /** Stores what the upstream answered to the submit or about the state; false where the task is further already. */
  advance(owner: string, id: string, news: TaskNews): Promise<boolean>
  /**
   * Takes the right to ask the upstream for the state, which one process has at a time.
   *
   * @param before false where it was polled after this time.
   */
  claim(owner: string, id: string, now: number, before: number): Promise<boolean>
  /** Counts an answer that there is no such task. */
  miss(owner: string, id: string): Promise<void>
  /** Submitted, unfinished tasks of the channels that were not polled since, the longest waiting first. */
  due(before: number, limit: number, channels: readonly string[]): Promise<readonly StoredTask[]>
  /** Tasks whose submit is not answered yet. */
  submitting(): Promise<readonly StoredTask[]>
  /** Completed tasks since a time whose video is still to be kept, the oldest first. */
  unkept(since: number, limit: number): Promise<readonly StoredTask[]>
  /** Tasks whose video is kept, the oldest first. */
  withFiles(): Promise<readonly StoredTask[]>
  /** Stores that the video is kept, 0 for never, or no longer; false where there is no such task. */
  keepFile(owner: string, id: string, size: number | undefined): Promise<boolean>
  /** Stores that the video will never be kept, unless it is. */
  leaveFile(owner: string, id: string): Promise<void>
  drop(owner: string, id: string): Promise<void>
}

/** What is new of a task. */
export interface TaskNews {
  readonly state: TaskState
  readonly result: CanonicalResult
  readonly upstreamId?: string
}

import type { Node } from './node.ts'

/** Task states. A task only moves to a later state. The last two are final. */
export const TASK_STATES = ['queued', 'in-progress', 'completed', 'failed'] as const
export type TaskState = (typeof TASK_STATES)[number]

/** Returns true if a task in this state can no longer change. */
export const isFinal = (state: TaskState): boolean => state === 'completed' || state === 'failed'

/** Kinds of files of a completed task. */
export const TASK_VARIANTS = ['video', 'thumbnail', 'spritesheet'] as const
export type TaskVariant = (typeof TASK_VARIANTS)[number]

/** A file of a completed task. */
export interface TaskFile extends Node {
  readonly variant: TaskVariant
  /**
   * Absolute URL, or path below the upstream's base URL. It is undefined if the task's id is enough to fetch the file.
   */
  readonly url?: string
  readonly mediaType?: string
}

/** Reason why a task failed: a content review refused its prompt, images or video, or another error occurred. */
export interface TaskFailure extends Node {
  readonly kind: 'content-review' | 'broken'
  readonly message: string
  /** The upstream's code for the failure. */
  readonly code?: string
}

/**
 * Work that outlives the request that started it. The id, model and creation time are those of the result that contains
 * the task. Times are Unix seconds.
 */
export interface CanonicalTask extends Node {
  readonly state: TaskState
  /** Progress in percent, 0 to 100. */
  readonly progress?: number
  /** Failure reason. Absent if the task has not failed. */
  readonly failure?: TaskFailure
  /** Files of a completed task, the video first. */
  readonly files?: readonly TaskFile[]
  /** Length of the video, in seconds. */
  readonly seconds?: number
  /** `1280x720`, or a format's own value. */
  readonly size?: string
  readonly prompt?: string
  readonly completedAt?: number
  /** Time at which the upstream deletes the files, in Unix seconds. */
  readonly expiresAt?: number
  /** Id of the task whose video this task modifies. */
  readonly remixOf?: string
}

/** Task fields needed for requests to its upstream. */
export interface UpstreamTask {
  /** The upstream's id of the task: `CanonicalResult.id` of its first answer. */
  readonly id: string
  /** The upstream's name of the model. */
  readonly model: string
  /** Kind of input that the video was made from, apart from its prompt. */
  readonly from: 'text' | 'image' | 'video'
  /** Files in the upstream's last answer. */
  readonly files?: readonly TaskFile[]
}

import type { Node } from './node.ts'

/** What a task can be in; it only ever goes to one further right, and stays in the last two. */
export const TASK_STATES = ['queued', 'in-progress', 'completed', 'failed'] as const
export type TaskState = (typeof TASK_STATES)[number]

/** Whether nothing changes in a task of this state any more. */
export const isFinal = (state: TaskState): boolean => state === 'completed' || state === 'failed'

/** The files a finished task may have. */
export const TASK_VARIANTS = ['video', 'thumbnail', 'spritesheet'] as const
export type TaskVariant = (typeof TASK_VARIANTS)[number]

/** One file of a finished task, and where the upstream has it. */
export interface TaskFile extends Node {
  readonly variant: TaskVariant
  /** An absolute address, or a path below the upstream's base address; absent where the task's id suffices. */
  readonly url?: string
  readonly mediaType?: string
}

/** Why a task failed: its prompt, pictures or outcome did not pass a review of content, or anything else. */
export interface TaskFailure extends Node {
  readonly kind: 'content-review' | 'broken'
  readonly message: string
  /** The upstream's own word for it. */
  readonly code?: string
}

/**
 * Work that outlives the exchange that began it. Id, model and time of creation are those of the result it stands in.
 * Times are Unix seconds.
 */
export interface CanonicalTask extends Node {
  readonly state: TaskState
  /** Percent done, 0 to 100. */
  readonly progress?: number
  /** Of a failed task. */
  readonly failure?: TaskFailure
  /** Of a completed task, the video first. */
  readonly files?: readonly TaskFile[]
  /** Length of the video. */
  readonly seconds?: number
  /** `1280x720`, or a format's own word. */
  readonly size?: string
  readonly prompt?: string
  readonly completedAt?: number
  /** When the files are gone. */
  readonly expiresAt?: number
  /** Id of the task whose video this one changes. */
  readonly remixOf?: string
}

/** A task in requests to its upstream. */
export interface UpstreamTask {
  /** As the upstream named it in its answer to the submit, `CanonicalResult.id`. */
  readonly id: string
  /** As the upstream names it. */
  readonly model: string
  /** What the video is made from besides the prompt. */
  readonly from: 'text' | 'image' | 'video'
  /** As of the upstream's last answer. */
  readonly files?: readonly TaskFile[]
}

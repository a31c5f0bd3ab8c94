import type { StoredTask } from '../../../src/store/tasks.ts'

/** States of a task, in the order in which it goes through them. The last two are final. */
const RANKS = { submitting: 0, queued: 1, 'in-progress': 2, completed: 3, failed: 3 } as const

/** One task at its upstream. */
export interface UpstreamVideo {
  readonly id: string
  status: 'queued' | 'in_progress' | 'completed' | 'failed'
  progress: number
  /** Whether the upstream no longer has it. */
  isGone: boolean
}

/** One submission as the model remembers it. */
export interface Submitted {
  readonly id: string
  readonly owner: string
  readonly video: UpstreamVideo | undefined
  /** Whether the caller was told its id. */
  isTold: boolean
  isDeleted: boolean
  /** The task as it was last seen in the store. */
  seen: StoredTask | undefined
}

/** Everything that was submitted, and what the upstream has. */
export class TasksModel {
  now = Date.UTC(2026, 10, 28)
  readonly submitted: Submitted[] = []
  readonly videos = new Map<string, UpstreamVideo>()

  chosen(which: number): Submitted | undefined {
    return this.submitted[which % Math.max(1, this.submitted.length)]
  }
}

/** Says what is wrong with a task in the store, compared with what was seen of it before. Undefined if nothing is. */
export function faultOf(
  { isTold, isDeleted, seen, video }: Submitted,
  task: StoredTask | undefined,
): string | undefined {
  if (task === undefined) return isTold && !isDeleted ? 'a task whose id was told is unknown' : undefined
  if (isDeleted) return 'a deleted task is back'
  if (video === undefined && task.upstreamId !== undefined) return 'a task has the id of no video'
  if (video !== undefined && task.upstreamId !== undefined && task.upstreamId !== video.id) return 'another video'
  if (task.state === 'completed' && video?.status !== 'completed') return 'it is completed before its video'
  if (seen === undefined) return undefined
  if (RANKS[task.state] < RANKS[seen.state]) return `it went back from ${seen.state} to ${task.state}`
  if (RANKS[seen.state] === RANKS.failed && task.state !== seen.state) return `it ended as ${seen.state} before`
  if (seen.upstreamId !== undefined && task.upstreamId !== seen.upstreamId) return 'its id at the upstream changed'
  return progressOf(task) < progressOf(seen) ? `its progress fell from ${progressOf(seen)}` : undefined
}

const progressOf = ({ result }: StoredTask): number => result.task?.progress ?? 0

import type { JsonObject } from '../canonical/node.ts'
import type { TaskVariant, UpstreamTask } from '../canonical/task.ts'
import type { WireRequest } from '../canonical/wire.ts'

/** A request without a body, below the upstream's base address and with the channel's credential. */
export interface TaskCall extends Pick<WireRequest, 'path' | 'query' | 'headers'> {
  readonly method: 'GET' | 'POST' | 'DELETE'
}

/** Where a file is that anybody may fetch who has the address: no credential goes there. */
export interface TaskAddress {
  readonly url: string
}

/**
 * Requests about a task to the upstream that works on it. Its answers to `status` and `find` are read by the reader's
 * `result`, as the answer to the submit is. All of it is pure.
 */
export interface TaskWriter {
  status(task: UpstreamTask, dialect: JsonObject): TaskCall
  /** One of the finished task's files; undefined where upstreams of the format have no such file. */
  content(task: UpstreamTask, variant: TaskVariant, dialect: JsonObject): TaskCall | TaskAddress | undefined
  /** Has the upstream forget the task; without it, upstreams keep what they want. */
  remove?(task: UpstreamTask, dialect: JsonObject): TaskCall
  /**
   * The status of the task by its reference (`output.video.reference`) instead of its id; without it, requests need no
   * reference, and a submit that was not answered cannot be found. An answer of status 404, or
   * one the reader throws `not-found` for, means that there is no such task.
   */
  find?(task: Omit<UpstreamTask, 'id'>, reference: string, dialect: JsonObject): TaskCall
  /** Whether `request` can write one with `output.video.remixOf`. */
  remixes?(dialect: JsonObject): boolean
}

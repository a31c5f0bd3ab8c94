import type { JsonObject } from '../canonical/node.ts'
import type { TaskVariant, UpstreamTask } from '../canonical/task.ts'
import type { WireRequest } from '../canonical/wire.ts'

/**
 * A request without a body. Its path is relative to the upstream's base URL, and the channel's credential is sent with
 * it.
 */
export interface TaskCall extends Pick<WireRequest, 'path' | 'query' | 'headers'> {
  readonly method: 'GET' | 'POST' | 'DELETE'
}

/** A public download URL. Never send the channel's credential to it. */
export interface PublicDownload {
  readonly url: string
}

/**
 * Writes requests about a task to the upstream that runs it. All methods are pure. The reader's `result` reads the
 * answers to `status` and `find` in the same way as the answer to the submission.
 */
export interface TaskWriter {
  status(task: UpstreamTask, dialect: JsonObject): TaskCall
  /** Requests one of a completed task's files. Returns undefined if the format has no file of this kind. */
  content(task: UpstreamTask, variant: TaskVariant, dialect: JsonObject): TaskCall | PublicDownload | undefined
  /** Deletes the task at the upstream. Without this method, the upstream decides how long to store the task. */
  remove?(task: UpstreamTask, dialect: JsonObject): TaskCall
  /**
   * Requests the task's status by its reference (`output.video.reference`) instead of its id. A 404 or the reader's
   * `not-found` error means that the task does not exist. Without this method, requests have no reference, and a task
   * cannot be found if its submission was never answered.
   */
  find?(task: Omit<UpstreamTask, 'id'>, reference: string, dialect: JsonObject): TaskCall
  /** Returns true if `request` supports `output.video.remixOf`. */
  remixes?(dialect: JsonObject): boolean
}

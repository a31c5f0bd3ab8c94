import type { JsonObject } from '../canonical/node.ts'
import type { TaskVariant, UpstreamTask } from '../canonical/task.ts'
import type { WireRequest } from '../canonical/wire.ts'

/** A request without a body, relative to the upstream's base address and sent with the channel's credential. */
export interface TaskCall extends Pick<WireRequest, 'path' | 'query' | 'headers'> {
  readonly method: 'GET' | 'POST' | 'DELETE'
}

/** A public download URL. Never send the channel's credential to it. */
export interface PublicDownload {
  readonly url: string
}

/**
 * Writes the requests about a task to the upstream that runs it. All methods are pure. The reader's `result` reads the
 * answers to `status` and `find`, like the answer to the submit.
 */
export interface TaskWriter {
  status(task: UpstreamTask, dialect: JsonObject): TaskCall
  /** Requests one of the finished task's files. Undefined if the format has no such file. */
  content(task: UpstreamTask, variant: TaskVariant, dialect: JsonObject): TaskCall | PublicDownload | undefined
  /** Deletes the task at the upstream. Without this method the upstream stores the task as long as it wants. */
  remove?(task: UpstreamTask, dialect: JsonObject): TaskCall
  /**
   * Requests the task's status by its reference (`output.video.reference`) instead of its id. A 404, or a `not-found`
   * error of the reader, means that there is no such task. Without this method requests carry no reference, and the
   * task of an unanswered submit cannot be found.
   */
  find?(task: Omit<UpstreamTask, 'id'>, reference: string, dialect: JsonObject): TaskCall
  /** Whether `request` can write a request with `output.video.remixOf`. */
  remixes?(dialect: JsonObject): boolean
}

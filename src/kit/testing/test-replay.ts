/// <reference lib="esnext.disposable" preserve="true" />

/**
 * Source of the answers: `replay` only answers from recordings, `record` also passes requests without a recording to
 * the upstream and records them, `off` passes every request to the upstream.
 */
export type ReplayMode = 'replay' | 'record' | 'off'

export interface TestReplayOptions {
  /**
   * Mode of the server. The default is `record` if the environment variable `INTERLINGUA_RECORD` is 1, `off` if
   * `INTERLINGUA_REPLAY` is `off`, and otherwise `replay`.
   */
  readonly mode?: ReplayMode
  /** Base URL of the provider, for the modes `record` and `off`. */
  readonly upstream?: string
  /** Key for the provider, for the modes `record` and `off`. The key is never recorded. */
  readonly key?: string | undefined
  /** Rules for fields and texts to remove from recordings. */
  readonly redact?: readonly string[]
  /** Rules for fields and texts to leave out of the comparison. */
  readonly ignore?: readonly string[]
  /** True if an unused recording is an error in mode `replay`. */
  readonly strict?: boolean
  /** Speed as a multiple of the recorded speed. The default, 0, means no waiting. */
  readonly speed?: number
}

/** A server for a test that answers from recordings. */
export interface TestReplay {
  readonly mode: ReplayMode
  /** The address of the server, without `/v1`. */
  readonly url: string
  /** Key for clients: the key from the options, or a placeholder. */
  readonly key: string
  /** Messages for requests that no recording matches, each with the nearest recording and a diff. */
  readonly misses: readonly string[]
  /** Files of unused recordings. */
  readonly unused: readonly string[]
  /** Returns the base URL as the official SDK of a format expects it: with `/v1` for `chat`, without for `messages`. */
  baseURL(format: string): string
  /**
   * Checks the requests so far.
   *
   * @throws UnmatchedRequests or UnusedRecordings
   */
  check(): void
  /** Closes the server and checks its requests. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Thrown if requests have no recording. The message contains the nearest recordings and the differences. */
export class UnmatchedRequests extends Error {
  override readonly name = 'UnmatchedRequests'
}

/** Thrown with `strict` if some recordings are unused. */
export class UnusedRecordings extends Error {
  override readonly name = 'UnusedRecordings'

  constructor(folder: string, files: readonly string[]) {
    super(`No request asked for these recordings of ${folder}:\n${files.join('\n')}`)
  }
}

/// <reference lib="esnext.disposable" preserve="true" />

/**
 * `replay` answers from recordings alone; `record` passes requests without a recording to the upstream and records
 * them; `off` passes every request to the upstream.
 */
export type ReplayMode = 'replay' | 'record' | 'off'

export interface TestReplayOptions {
  /**
   * By default `record` if the environment variable `INTERLINGUA_RECORD` is 1, `off` if `INTERLINGUA_REPLAY` is `off`,
   * otherwise `replay`.
   */
  readonly mode?: ReplayMode
  /** The base URL of the provider, for the modes `record` and `off`. */
  readonly upstream?: string
  /** The key for the provider, for the same modes. It is never recorded. */
  readonly key?: string | undefined
  /** Rules for fields and texts that are removed from recordings. */
  readonly redact?: readonly string[]
  /** Rules for fields and texts that are left out of the comparison. */
  readonly ignore?: readonly string[]
  /** Whether a recording that no request asked for is an error, in mode `replay`. */
  readonly strict?: boolean
  /** Speed as a multiple of the recorded one; 0, the default, waits for nothing. */
  readonly speed?: number
}

/** A server for a test that answers from recordings. */
export interface TestReplay {
  readonly mode: ReplayMode
  /** The address of the server, without `/v1`. */
  readonly url: string
  /** The key for clients: the one of the options, or a placeholder. */
  readonly key: string
  /** The messages of the requests that no recording matches, each with the nearest recording and a diff. */
  readonly misses: readonly string[]
  /** Files of recordings that no request asked for. */
  readonly unused: readonly string[]
  /** Returns the base URL as the official SDK of a format expects it: with `/v1` for `chat`, without for `messages`. */
  baseURL(format: string): string
  /**
   * Checks the requests so far.
   *
   * @throws UnmatchedRequests or UnusedRecordings
   */
  check(): void
  /** Closes the server, and checks its requests. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Thrown if requests have no recording. The message has the nearest recordings and the differences. */
export class UnmatchedRequests extends Error {
  override readonly name = 'UnmatchedRequests'
}

/** Thrown with `strict` if no request asked for some recordings. */
export class UnusedRecordings extends Error {
  override readonly name = 'UnusedRecordings'

  constructor(folder: string, files: readonly string[]) {
    super(`No request asked for these recordings of ${folder}:\n${files.join('\n')}`)
  }
}

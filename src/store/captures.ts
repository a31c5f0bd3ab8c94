/** One captured request as stored. Times are Unix milliseconds. */
export interface StoredCapture {
  /** Request id. */
  readonly id: string
  /** Start of the request. */
  readonly at: number
  /** Id of the caller's key. */
  readonly key?: string
  readonly expiresAt: number
  /** JSON, compressed by the writer. */
  readonly data: Uint8Array
}

/** Filter and position of one page of the list of captures. */
export interface CapturePage {
  /** Start time of the requests: from `since`, before `until`; Unix milliseconds. */
  readonly since: number
  readonly until: number
  readonly limit: number
  /** Id of the caller's key. */
  readonly key?: string
  /** Position of the last capture of the previous page: `TIME.ID`. */
  readonly after?: string
}

/** Captured requests of all instances. */
export interface Captures {
  /** Stores captures, then deletes the oldest until all captures together fit into `limit` bytes. */
  add(captures: readonly StoredCapture[], limit: number): Promise<void>
  /** Returns the data of a capture; undefined if it is unknown or expired. */
  find(id: string): Promise<Uint8Array | undefined>
  /** Returns the ids of those requests that have a capture. */
  existing(ids: readonly string[]): Promise<ReadonlySet<string>>
  /** Returns a page of captures, newest first, and whether more follow. */
  list(
    page: CapturePage,
  ): Promise<{ readonly found: readonly Pick<StoredCapture, 'id' | 'at'>[]; readonly more: boolean }>
  /** Deletes a capture; false if it is unknown. */
  drop(id: string): Promise<boolean>
  /** Deletes expired captures. */
  sweep(): Promise<void>
}

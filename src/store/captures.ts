/** What was captured of one request, as it is stored. Times are Unix milliseconds. */
export interface StoredCapture {
  /** The request's id. */
  readonly id: string
  /** When it began. */
  readonly at: number
  /** The key's id. */
  readonly key?: string
  readonly expiresAt: number
  /** JSON, compressed by whoever writes it. */
  readonly data: Uint8Array
}

/** Which captures a page of a list has. */
export interface CapturePage {
  /** Times in which their requests began. */
  readonly since: number
  readonly until: number
  readonly limit: number
  /** The key's id. */
  readonly key?: string
  /** The position behind which it continues: `TIME.ID`. */
  readonly after?: string
}

/** Captured requests, of all instances. */
export interface Captures {
  /** Stores captures, and deletes the oldest of all where they have more than `limit` bytes. */
  add(captures: readonly StoredCapture[], limit: number): Promise<void>
  /** The data of one; undefined where there is none, or it expired. */
  find(id: string): Promise<Uint8Array | undefined>
  /** Which of these requests were captured. */
  known(ids: readonly string[]): Promise<ReadonlySet<string>>
  /** Which requests were captured, the latest first, and whether more follow. */
  list(
    page: CapturePage,
  ): Promise<{ readonly found: readonly Pick<StoredCapture, 'id' | 'at'>[]; readonly more: boolean }>
  /** Deletes one; false where there is none. */
  drop(id: string): Promise<boolean>
  /** Deletes those that have expired. */
  sweep(): Promise<void>
}

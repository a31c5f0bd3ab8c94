/** A picture that callers load by its address. */
export interface StoredPicture {
  readonly mediaType: string
  readonly size: number
  /** Unix time in milliseconds. */
  readonly expiresAt: number
  /** Its bytes, read piece by piece. */
  read(): AsyncIterable<Uint8Array>
}

/** What instances need of each other beside responses, tasks and keys. */
export interface SharedRecords {
  /** A secret of the gateway's own; the first of several instances makes it. */
  secret(name: string, make: () => Uint8Array): Promise<Uint8Array>
  keepPicture(token: string, picture: StoredPicture): Promise<void>
  picture(token: string): Promise<StoredPicture | undefined>
  /** Keeps a text under a key until it expires, in place of an earlier one. */
  keep(kind: string, key: string, text: string, expiresAt: number): Promise<void>
  find(kind: string, key: string): Promise<string | undefined>
  /** The same, and nobody finds it again: of several takers one has it. */
  take(kind: string, key: string): Promise<string | undefined>
}

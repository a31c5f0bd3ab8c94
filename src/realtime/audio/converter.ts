/** Audio of one format as audio of another, piece by piece. */
export interface AudioConverter {
  /**
   * What can be said of all bytes so far and was not said yet; a sample cut between two pieces is put together. The
   * result is the caller's to keep.
   */
  push(bytes: Uint8Array): Uint8Array
  /** What the filter still holds; the next `push` begins anew. */
  flush(): Uint8Array
  /** Forgets what is held: the audio before was dropped. */
  reset(): void
  /** Frees what the collector cannot. */
  close(): void
}

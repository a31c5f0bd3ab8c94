/** Audio of one format as audio of another, piece by piece. */
export interface AudioConverter {
  /**
   * The audio that is due after these bytes; a sample cut between two chunks is put together. The
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

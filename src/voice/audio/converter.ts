/** Converts a stream of audio from one format to another, chunk by chunk. */
export interface AudioConverter {
  /**
   * Converts a chunk and returns the output that is ready. Chunks may end in the middle of a sample. The result belongs
   * to the caller, who may modify it.
   */
  push(bytes: Uint8Array): Uint8Array
  /** Returns the output that is still in the filter. The next `push` starts a new stream. */
  flush(): Uint8Array
  /** Discards the buffered input. Called when the preceding audio was dropped. */
  reset(): void
  /** Returns a converter between the same formats for another stream. */
  fork(): AudioConverter
  /** Releases memory that the garbage collector does not manage. */
  close(): void
}

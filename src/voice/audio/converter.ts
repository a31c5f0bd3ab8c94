/** Converts a stream of audio from one format to another, chunk by chunk. */
export interface AudioConverter {
  /**
   * Converts a chunk and returns the output that is ready. Chunks may be cut inside a sample. The caller owns the
   * result and may modify it.
   */
  push(bytes: Uint8Array): Uint8Array
  /** Returns the output that the filter still holds. The next `push` starts a new stream. */
  flush(): Uint8Array
  /** Discards the buffered input, because the audio before it was dropped. */
  reset(): void
  /** Releases memory that the garbage collector does not manage. */
  close(): void
}

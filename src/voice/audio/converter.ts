/** Converts a stream of audio from one format to another, chunk by chunk. */
export interface AudioConverter {
  /**
   * Converts a chunk and returns the output that is ready. Chunks may be cut inside a sample. The caller owns the
   * result and may modify it.
   */
  push(bytes: Uint8Array): Uint8Array
  /** Returns the output still held by the filter; the next `push` starts a new stream. */
  flush(): Uint8Array
  /** Discards the buffered input, because the audio before it was dropped. */
  reset(): void
  /** Releases memory outside the garbage collector's reach. */
  close(): void
}

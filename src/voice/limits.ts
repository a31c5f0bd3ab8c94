/** Limits of a voice session, from the config. */
export interface SessionLimits {
  /** Maximum time without a frame in either direction on the caller's connection, in milliseconds. */
  readonly idle: number
  /** Maximum duration of a session, in milliseconds. */
  readonly lifetime: number
  /** Maximum size of the output buffered for a slow caller, in bytes. */
  readonly buffer: number
}

/**
 * Maximum number of running responses tracked per session. Needed because an upstream may start responses without
 * ending them. Beyond it, the oldest response is dropped.
 */
export const MAX_RUNNING = 64

/** Size of the output buffered for a peer above which reading from the other side pauses, in bytes. */
export const HIGH_WATER_MARK = 256 * 1024
/** Size of the output buffered for a peer below which reading from the other side resumes, in bytes. */
export const LOW_WATER_MARK = 64 * 1024

/** Maximum number of consecutive heartbeats at which a peer answers no ping or reads no output. */
export const MAX_MISSED_BEATS = 2

/** Maximum time for a peer to read some of the output before a close frame, or to answer it, in milliseconds. */
export const CLOSE_TIMEOUT = 1000

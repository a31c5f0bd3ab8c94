/** Limits of a voice session, from the config. */
export interface SessionLimits {
  /** ms; how long the caller's connection may be without a frame in either direction. */
  readonly idle: number
  /** ms; maximum duration of a session. */
  readonly lifetime: number
  /** Bytes; maximum output that is buffered for a slow caller. */
  readonly buffer: number
}

/**
 * Maximum number of running responses tracked per session, because an upstream may start responses without ending them.
 * Beyond it, the oldest one is forgotten.
 */
export const MAX_RUNNING = 64

/** Bytes buffered for a peer above which reading from the other side pauses. */
export const HIGH_WATER_MARK = 256 * 1024
/** Bytes buffered for a peer below which reading from the other side resumes. */
export const LOW_WATER_MARK = 64 * 1024

/** Maximum number of consecutive heartbeats at which a peer answers no ping or takes no output. */
export const MAX_MISSED_BEATS = 2

/** ms; how long a peer may take to answer a close frame. */
export const CLOSE_TIMEOUT = 1000

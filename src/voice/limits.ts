/** Limits of a voice session, from the config. */
export interface SessionLimits {
  /** Milliseconds; how long the caller's connection may carry no frame, in either direction. */
  readonly idle: number
  /** Milliseconds; how long a session may last. */
  readonly lifetime: number
  /** Bytes; the most output that may be buffered for a slow caller. */
  readonly buffer: number
}

/**
 * Most running responses tracked per session. An upstream may start responses without ending them; beyond the limit the
 * oldest is forgotten.
 */
export const MAX_RUNNING = 64

/** Bytes buffered for a peer at which reading from the other side pauses, and at which it resumes. */
export const HIGH_WATER_MARK = 256 * 1024
export const LOW_WATER_MARK = 64 * 1024

/** Heartbeats in a row that a peer may leave unanswered, or in which it may take none of its output. */
export const MAX_MISSED_BEATS = 2

/** Milliseconds; how long a peer may take to answer a close frame. */
export const CLOSE_TIMEOUT = 1000

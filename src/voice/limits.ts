/**
 * Maximum number of running responses tracked per session. An upstream may start responses without ending them. Beyond
 * the limit the oldest is forgotten.
 */
export const MAX_RUNNING = 64

/** Number of bytes buffered for a peer at which reading from the other side pauses, and at which it resumes. */
export const HIGH_WATER_MARK = 256 * 1024
export const LOW_WATER_MARK = 64 * 1024

/** Rounds milliseconds to one decimal, as usage rows, captures and recordings have them. */
export const roundedMs = (ms: number): number => Math.round(ms * 10) / 10

/** Returns the rounded milliseconds since a time of `performance.now()`. */
export const msSince = (startTime: number): number => roundedMs(performance.now() - startTime)

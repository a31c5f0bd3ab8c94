/** Maximum number of messages about misses. A server that runs for months would otherwise use up its memory. */
const MAX_MISSES = 1000

/** Adds the message about a request without a recording, unless there are very many. */
export function addMiss(misses: string[], message: string): void {
  if (misses.length < MAX_MISSES) misses.push(message)
}

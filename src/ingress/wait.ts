/** Seconds an upstream asks to be left alone: `retry-after-ms`, else `retry-after` in seconds (trap 78). */
export function retryAfter(headers: { readonly [name: string]: string }): number | undefined {
  const millis = Number.parseFloat(headers['retry-after-ms'] ?? '')
  if (Number.isFinite(millis)) return millis / 1000
  const seconds = Number.parseFloat(headers['retry-after'] ?? '')
  return Number.isFinite(seconds) ? seconds : undefined
}

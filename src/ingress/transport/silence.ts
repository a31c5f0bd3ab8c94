const SILENT: ReadonlySet<string> = new Set(['', '[DONE]'])
const LONGEST = 12

/** Data of an event that says nothing, in any format but those it ends: some upstreams end all their streams with it. */
export const saysNothing = (data: string): boolean => data.length <= LONGEST && SILENT.has(data.trim())

const EMPTY: ReadonlySet<string> = new Set(['', '[DONE]'])
const LONGEST = 12

/** Whether an event's data is empty in any format that has no such end mark: some upstreams end all streams with it. */
export const isEmptyData = (data: string): boolean => data.length <= LONGEST && EMPTY.has(data.trim())

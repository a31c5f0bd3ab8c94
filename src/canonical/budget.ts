import type { Json } from './node.ts'

/** Maximum size that resolved references may add to a request, in characters and nodes. */
const DEFAULT_SIZE = 512 * 1024

/**
 * Limits how much of a caller's values a writer may repeat. Without a limit, many references to one value could
 * multiply the size of a request (trap 106).
 */
export class Budget {
  private remaining: number

  constructor(size = DEFAULT_SIZE) {
    this.remaining = size
  }

  /** Deducts the size of the value. Returns false for this and every later value once the budget is exhausted. */
  spend(value: Json): boolean {
    if (this.remaining >= 0) this.remaining -= sizeOf(value, this.remaining)
    return this.remaining >= 0
  }
}

/** Counts the characters and nodes of a value. Stops soon after exceeding `limit`. */
function sizeOf(value: Json, limit: number): number {
  if (typeof value === 'string') return 1 + value.length
  if (typeof value !== 'object' || value === null) return 1
  let size = 1
  if (Array.isArray(value)) {
    for (const one of value) if ((size += sizeOf(one, limit - size)) > limit) break
    return size
  }
  const fields = value as { readonly [key: string]: Json }
  for (const key in fields) if ((size += key.length + sizeOf(fields[key]!, limit - size)) > limit) break
  return size
}

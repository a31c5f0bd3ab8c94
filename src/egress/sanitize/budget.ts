import type { Json } from '../../canonical/node.ts'

/** Characters and nodes that references may add to one request. */
const ADDED = 512 * 1024

/**
 * Limits how much of a caller's value may be written more than once. A value in its own place costs its size; repeated
 * elsewhere it could cost any multiple of it (trap 106).
 */
export class Budget {
  private left: number

  constructor(size = ADDED) {
    this.left = size
  }

  /** Takes the size of the value; false when less is left, and from then on. */
  spend(value: Json): boolean {
    if (this.left >= 0) this.left -= sizeOf(value, this.left)
    return this.left >= 0
  }
}

/** Characters and nodes of a value, counted to just above `most`. */
function sizeOf(value: Json, most: number): number {
  if (typeof value === 'string') return 1 + value.length
  if (typeof value !== 'object' || value === null) return 1
  let size = 1
  if (Array.isArray(value)) {
    for (const one of value) if ((size += sizeOf(one, most - size)) > most) break
    return size
  }
  const fields = value as { readonly [key: string]: Json }
  for (const key in fields) if ((size += key.length + sizeOf(fields[key]!, most - size)) > most) break
  return size
}

/** A byte range. Both ends are inclusive. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

const RANGE_PATTERN = /^\s*bytes\s*=\s*(?:(\d+)\s*)?-\s*(?:(\d+)\s*)?$/i

/** Returns true if a `range` header requests exactly one valid range. */
export function isRange(header: string): boolean {
  const [, first = '', last = ''] = RANGE_PATTERN.exec(header) ?? []
  return (first !== '' || last !== '') && (first === '' || last === '' || Number(first) <= Number(last))
}

/**
 * Resolves a `range` header against a file's size (RFC 9110, section 14). Returns undefined for the whole file, which
 * also answers several ranges and unknown units, and `none` for a range beyond the end.
 */
export function rangeOf(header: string, size: number): ByteRange | 'none' | undefined {
  if (!isRange(header)) return undefined
  const [, first = '', last = ''] = RANGE_PATTERN.exec(header)!
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'none' : { first: size - length, last: size - 1 }
  }
  if (Number(first) >= size) return 'none'
  return { first: Number(first), last: last === '' ? size - 1 : Math.min(Number(last), size - 1) }
}

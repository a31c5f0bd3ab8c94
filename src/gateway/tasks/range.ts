/** The first and the last byte of a part. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

const FORM = /^\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i

/** Whether a `range` header asks for one part of a file. */
export function isRange(header: string): boolean {
  const [, first = '', last = ''] = FORM.exec(header) ?? []
  return (first !== '' || last !== '') && (first === '' || last === '' || Number(first) <= Number(last))
}

/**
 * The part of a file that a `range` header asks for (RFC 9110, section 14): undefined for the whole file, which is what
 * several parts and anything unknown come to, and `none` for a part that lies behind the end.
 */
export function rangeOf(header: string, size: number): ByteRange | 'none' | undefined {
  if (!isRange(header)) return undefined
  const [, first = '', last = ''] = FORM.exec(header)!
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'none' : { first: size - length, last: size - 1 }
  }
  if (Number(first) >= size) return 'none'
  return { first: Number(first), last: last === '' ? size - 1 : Math.min(Number(last), size - 1) }
}

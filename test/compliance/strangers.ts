import { isObject, type Json } from '../../src/canonical/node.ts'

/** What callers say in free JSON: nothing inside is the gateway's. */
const FREE = new Set(['parameters', 'schema', 'value', 'metadata'])

/**
 * A canonical value as it comes from another format: generators also make what only this format's own callers and
 * upstreams say, valid or not.
 */
export function strange<T>(value: T, format: string): T {
  return (Array.isArray(value) ? list(value, format) : isPlainObject(value) ? node(value, format) : value) as T
}

const isPlainObject = (value: unknown): value is object =>
  isObject(value) && Object.getPrototypeOf(value) === Object.prototype

const list = (values: readonly unknown[], format: string): unknown[] =>
  values.filter(one => !isOwnPiece(one, format)).map(one => strange(one, format))

/** A piece only the format itself knows, standing in a list or beginning in a stream. */
function isOwnPiece(value: unknown, format: string): boolean {
  const { type, format: of, part } = (value ?? {}) as { type?: Json; format?: Json; part?: unknown }
  return type === 'opaque' ? of === format : type === 'part-start' && isOwnPiece(part, format)
}

function node(value: object, format: string): object {
  const out: { [key: string]: unknown } = {}
  for (const [key, inside] of Object.entries(value)) {
    if (key !== 'extras' && key !== 'spelling') {
      const kept = FREE.has(key) ? inside : strange(inside, format)
      Object.defineProperty(out, key, { value: kept, enumerable: true })
      continue
    }
    const { [format]: _, ...others } = inside as { [format: string]: unknown }
    if (Object.keys(others).length > 0) out[key] = others
  }
  return out
}

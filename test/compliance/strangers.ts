import { isObject, type Json } from '../../src/canonical/node.ts'

/** Fields with free JSON of callers. Nothing inside belongs to the gateway. */
const FREE = new Set(['parameters', 'schema', 'value', 'metadata'])

/**
 * Returns a canonical value as it comes from another format, without content that only this format's own callers and
 * upstreams send. Generators make such content, too, valid or not.
 */
export function strange<T>(value: T, format: string): T {
  return (Array.isArray(value) ? list(value, format) : isPlainObject(value) ? node(value, format) : value) as T
}

const isPlainObject = (value: unknown): value is object =>
  isObject(value) && Object.getPrototypeOf(value) === Object.prototype

const list = (values: readonly unknown[], format: string): unknown[] =>
  values.filter(one => !isOwnPiece(one, format)).map(one => strange(one, format))

/** Whether a value is an item of a list, or the start of a stream, that only the format itself knows. */
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

/** The same object without the fields that are undefined. */
export function defined<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const out: Record<string, unknown> = {}
  for (const key in fields) {
    const value = fields[key]
    if (value === undefined) continue
    if (key === '__proto__') put(out, key, value)
    else out[key] = value
  }
  return out as { [K in keyof T]: Exclude<T[K], undefined> }
}

/** Sets a field whose name came from outside: plain assignment would take `__proto__` for the prototype. */
export function put(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
}

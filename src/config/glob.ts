/** Returns true if any pattern matches the name. `*` in a pattern matches any run of characters. */
export const matchesAny = (patterns: readonly string[], name: string): boolean =>
  patterns.some(pattern => matches(pattern, name))

export function matches(pattern: string, name: string): boolean {
  if (pattern === '*' || pattern === name) return true
  const parts = pattern.split('*')
  if (parts.length === 1) return false
  const first = parts[0]!
  const last = parts.at(-1)!
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false
  let from = first.length
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, from)
    if (found < 0) return false
    from = found + part.length
  }
  return from <= name.length - last.length
}

/** Returns true if values are the indexes from 0 on, each once and in any order. */
export const areIndexes = (values: readonly unknown[]): boolean => {
  const found = new Set(values)
  return found.size === values.length && values.every((_, position) => found.has(position))
}

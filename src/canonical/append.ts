/**
 * Appends every item to the list. `push(...more)` would pass the items on the stack, which overflows at some hundred
 * thousand of them, a number that callers control.
 */
export function append<T>(list: T[], more: Iterable<T>): void {
  for (const one of more) list.push(one)
}

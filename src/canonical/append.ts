/**
 * Adds every one of them to the list. `push(...more)` would hand them over on the stack, which takes some hundred
 * thousand and which callers can fill: wide is not deep.
 */
export function append<T>(list: T[], more: Iterable<T>): void {
  for (const one of more) list.push(one)
}

/** Values of `anthropic-beta` that a channel passes on: all, none, or a list. */
export type BetaPolicy = 'allow' | 'none' | readonly string[]

/**
 * Returns the values of the caller's `anthropic-beta` header that the channel allows, or undefined if there are none
 * (trap 79).
 */
export function allowedBetas(policy: BetaPolicy, header: string | undefined): string | undefined {
  if (header === undefined || policy === 'none') return undefined
  if (policy === 'allow') return header
  const allowed = header
    .split(',')
    .map(name => name.trim())
    .filter(name => policy.includes(name))
  return allowed.length === 0 ? undefined : allowed.join(',')
}

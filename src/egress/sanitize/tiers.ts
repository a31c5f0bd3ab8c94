import type { Losses } from '../../canonical/loss.ts'

interface WriteContext {
  readonly native: boolean
  readonly losses: Losses
}

/** The tier of service asked for, where the format has the word; a caller of the very format says what it likes. */
export function knownTier(
  tier: string | undefined,
  words: ReadonlySet<string>,
  { native, losses }: WriteContext,
): string | undefined {
  if (native || tier === undefined || words.has(tier)) return tier
  losses.drop(['serviceTier'], 'no-such-tier')
  return undefined
}

import type { Losses } from '../../canonical/loss.ts'

interface WriteContext {
  readonly native: boolean
  readonly losses: Losses
}

/** The service tier, where the format has its name; a native caller's value is passed on. */
export function supportedTier(
  tier: string | undefined,
  names: ReadonlySet<string>,
  { native, losses }: WriteContext,
): string | undefined {
  if (native || tier === undefined || names.has(tier)) return tier
  losses.drop(['serviceTier'], 'no-such-tier')
  return undefined
}

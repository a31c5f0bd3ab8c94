import type { ChannelConfig } from '../config/types.ts'

/** What of a caller's `anthropic-beta` header may go to the channel's upstream; undefined for nothing (trap 79). */
export function allowedBetas(policy: ChannelConfig['betas'], header: string | undefined): string | undefined {
  if (header === undefined || policy === 'none') return undefined
  if (policy === 'allow') return header
  const words = header
    .split(',')
    .map(word => word.trim())
    .filter(word => policy.includes(word))
  return words.length === 0 ? undefined : words.join(',')
}

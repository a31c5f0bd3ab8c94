import { keyId } from '../config/key-pool.ts'
import type { ChannelConfig } from '../config/types.ts'
import type { Channel } from './channel/index.ts'

/** Separator between the name of a channel and the id of a key in stored records. */
const SEPARATOR = '#'

/**
 * Returns the name of an upstream account in stored records: the channel, plus the key if each key of the channel's
 * pool is a separate account. Stored responses, videos and reasoning belong to an account.
 */
export const accountName = ({ name, pooled }: ChannelConfig): string =>
  pooled === undefined || pooled.accountKey !== undefined ? name : `${name}${SEPARATOR}${pooled.id}`

/**
 * Finds the channel, or the key of its pool, for a stored account. Returns undefined if it is no longer configured. If
 * a channel got a pool after a record was stored, the record belongs to the pool's first key. If a pool's key became
 * the channel's only key, its records belong to the channel.
 */
export function channelOfAccount(account: string, channels: readonly Channel[]): Channel | undefined {
  const named = channels.find(({ config }) => config.name === account)
  if (named !== undefined) return sharesAccount(named) ? named.sender : (named.keys?.[0] ?? named)
  const end = account.lastIndexOf(SEPARATOR)
  const [name, id] = [account.slice(0, end), account.slice(end + 1)]
  const channel = end < 0 ? undefined : channels.find(({ config }) => config.name === name)
  if (channel === undefined) return undefined
  if (channel.keys === undefined) return keyId(channel.config.key ?? '') === id ? channel : undefined
  return channel.keyOf(id) ?? (sharesAccount(channel) ? channel.sender : undefined)
}

const sharesAccount = ({ config }: Channel): boolean => config.keys?.[0]?.pooled?.accountKey !== undefined

import { createHash } from 'node:crypto'
import type { WrittenChannel } from './channel.ts'
import type { FaultAt } from './faults.ts'
import type { ChannelConfig } from './types.ts'

/** Length of a key's id, in characters. */
const ID_LENGTH = 12
/**
 * Number of characters of a key that operators may see. If the rest of a key would be too short to stay secret, none
 * are shown.
 */
const SHOWN_CHARACTERS = 4
const MIN_HIDDEN_CHARACTERS = 8

/** Returns the id of a key in stored records. */
export const keyId = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, ID_LENGTH)

/** Returns the last characters of a secret, by which operators recognise it. */
export const endingOf = (key: string): string =>
  key.length < SHOWN_CHARACTERS + MIN_HIDDEN_CHARACTERS ? '' : key.slice(-SHOWN_CHARACTERS)

/** Adds the pool of keys to a channel: `keys` has one copy of the channel per key. */
export function withKeyPool(channel: ChannelConfig, written: WrittenChannel, fault: FaultAt): ChannelConfig {
  const { keys, keys_share_account: isShared } = written
  if (keys === undefined) {
    if (isShared !== undefined) fault(['keys_share_account'], 'has no effect without `keys`')
    return channel
  }
  checkKeys(written, keys.map(keyOf), fault)
  if (keys.length === 0) return channel
  const first = keyOf(keys[0]!)
  return {
    ...channel,
    key: first,
    keys: keys.map(entry => memberOf(channel, entry, isShared === true ? first : undefined)),
  }
}

type WrittenKey = NonNullable<WrittenChannel['keys']>[number]

const keyOf = (entry: WrittenKey): string => (typeof entry === 'string' ? entry : entry.key)

function checkKeys({ key }: WrittenChannel, keys: readonly string[], fault: FaultAt): void {
  if (key !== undefined) fault(['keys'], 'cannot be set together with `key`')
  if (keys.length === 0) fault(['keys'], 'lists no key')
  for (const [index, one] of keys.entries()) {
    if (one === 'none') fault(['keys', index], '`none` is not a key; write `key: none` without `keys`')
    if (keys.indexOf(one) < index) fault(['keys', index], 'another entry has the same key')
  }
}

/**
 * Returns a copy of a channel with one key of its pool. The formats are also copied, because headers and issuers are
 * cached by format object.
 */
function memberOf(channel: ChannelConfig, entry: WrittenKey, accountKey: string | undefined): ChannelConfig {
  const { key, weight = 1, rpm, tpm, concurrent } = typeof entry === 'string' ? { key: entry } : entry
  const { maxConcurrent: _, ...rest } = channel
  return {
    ...rest,
    key,
    weight,
    formats: channel.formats.map(format => ({ ...format })),
    ...(concurrent === undefined ? {} : { maxConcurrent: concurrent }),
    pooled: {
      ...{ id: keyId(key), ending: endingOf(key) },
      ...(rpm === undefined ? {} : { rpm }),
      ...(tpm === undefined ? {} : { tpm }),
      ...(accountKey === undefined ? {} : { accountKey }),
    },
  }
}

import { createHash } from 'node:crypto'
import type { WrittenChannel } from './channel.ts'
import type { FaultAt } from './faults.ts'
import type { ChannelConfig } from './types.ts'

/** Number of characters in the id of a key. */
const ID_LENGTH = 12
/** Number of characters of a key that operators may see. A key too short to stay secret without them shows none. */
const SHOWN = 4
const LEAST_HIDDEN = 8

/** The id of a key in stored records. */
export const keyId = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, ID_LENGTH)

/** The last characters of a secret, by which operators recognise it. */
export const endingOf = (key: string): string => (key.length < SHOWN + LEAST_HIDDEN ? '' : key.slice(-SHOWN))

/** Adds the pool of keys to a channel: `keys` has the channel once per key. */
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

/** A channel with one key of its pool. Its formats are copies, because headers and issuers are cached by format. */
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

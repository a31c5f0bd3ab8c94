import { describe, expect, it } from 'vitest'
import { accountName, channelOfAccount } from '../../src/upstreams/accounts-of-channels.ts'
import { Channel } from '../../src/upstreams/channel/index.ts'
import { channelAt } from '../builders/config.ts'
import { KEY_A, KEY_B, KEY_C, poolAt } from '../builders/key-pools.ts'

const ADDRESS = 'http://127.0.0.1:9'
const pool = (keys: readonly string[], more = '') => new Channel(poolAt(ADDRESS, keys, { more }))
const accounts = ({ keys = [] }: Channel) => keys.map(({ config }) => accountName(config))
const found = (account: string, channel: Channel) => channelOfAccount(account, [channel])?.config.key

describe('the account of a stored record', () => {
  it('is a key of its own, wherever the key stands in the pool', () => {
    const [a, b] = accounts(pool([KEY_A, KEY_B]))
    const later = pool([KEY_C, KEY_B, KEY_A])
    expect([found(a!, later), found(b!, later)]).toEqual([KEY_A, KEY_B])
    expect(a).not.toContain('aaaa')
  })

  it('is gone with its key, and is not asked for with another one', () => {
    const [a] = accounts(pool([KEY_A, KEY_B]))
    expect(found(a!, pool([KEY_B, KEY_C]))).toBeUndefined()
  })

  it('is the channel if its keys share an account; a key that does not rest reaches it', () => {
    const shared = pool([KEY_A, KEY_B], ', keys_share_account: true')
    expect(new Set(accounts(shared))).toEqual(new Set(['pool']))
    shared.keys![0]!.resting.restChannel(Date.now() + 60_000)
    expect(found('pool', shared)).toBe(KEY_B)
  })

  it('stays reachable when a channel gets a pool or loses it', () => {
    expect(found('pool', pool([KEY_A, KEY_B]))).toBe(KEY_A)
    const [a, b] = accounts(pool([KEY_A, KEY_B]))
    const single = new Channel(channelAt(ADDRESS, { name: 'pool', key: KEY_A }))
    expect([found(a!, single), found(b!, single)]).toEqual([KEY_A, undefined])
  })

  it('is the channel if it has no pool', () => {
    const single = new Channel(channelAt(ADDRESS, { name: 'single', key: KEY_A }))
    const { key: _, ...keyless } = channelAt(ADDRESS, { name: 'keyless' })
    expect(accountName(single.config)).toBe('single')
    expect(channelOfAccount('single', [pool([KEY_B, KEY_C]), single])).toBe(single)
    expect(found('keyless#id-of-a-key', new Channel(keyless))).toBeUndefined()
  })

  it('is found by its name among several channels, and is unknown where no channel has the name', () => {
    const [shared, other] = [pool([KEY_A, KEY_B], ', keys_share_account: true'), pool([KEY_B, KEY_C])]
    const elsewhere = new Channel(channelAt(ADDRESS, { name: 'elsewhere', key: KEY_A }))
    const [, b] = accounts(pool([KEY_A, KEY_B]))
    expect(channelOfAccount(b!, [elsewhere, other])?.config.key).toBe(KEY_B)
    // A key of its own that now shares the account of its pool, whatever became of it.
    expect(channelOfAccount('pool#gone', [elsewhere, shared])).toBe(shared.sender)
    for (const unknown of ['poolx', 'nowhere', 'nowhere#id', ''])
      expect(channelOfAccount(unknown, [elsewhere, shared])).toBeUndefined()
  })
})

import { readConfig } from '../../src/config/read.ts'
import type { ChannelConfig } from '../../src/config/types.ts'

/** Keys of a pool with different endings. */
export const [KEY_A, KEY_B, KEY_C] = [
  'upstream-key-of-pool-aaaa',
  'upstream-key-of-pool-bbbb',
  'upstream-key-of-pool-cccc',
] as const

interface PoolFields {
  readonly name?: string
  readonly format?: string
  /** Further fields of the channel, as YAML in flow style. */
  readonly more?: string
}

/** A channel with a pool of keys, read from YAML. */
export const poolAt = (
  address: string,
  keys: readonly (string | object)[],
  { name = 'pool', format = 'chat', more = '' }: PoolFields = {},
): ChannelConfig =>
  readConfig(
    `channels: [{ name: ${name}, provider: custom, base_url: "${address}", formats: [${format}], models: [m], keys: ${JSON.stringify(keys)}${more} }]`,
    {},
  ).channels[0]!

/** Returns the key with which a request reached its upstream. */
export const keyIn = ({ headers }: { readonly headers: { readonly [name: string]: unknown } }): string =>
  String(headers['authorization'] ?? headers['x-api-key']).replace(/^Bearer /, '')

import { createHash } from 'node:crypto'
import type { ChannelFormat } from '../../config/index.ts'
import { accountName } from '../../upstreams/accounts-of-channels.ts'
import type { Target } from '../../upstreams/router.ts'

/**
 * Returns the issuer whose signatures a target can verify: one model of one account at one address. OpenAI's signatures
 * are valid in one organisation, and those of the newest Claude models in one account. Other models refuse or drop them
 * (traps 30, 33). A channel keeps its issuer when its name or limits change, but not when its key changes.
 */
export const issuerOf = (target: Target): string => `${accountOf(target)} ${target.upstreamModel}`

type AccountTarget = Pick<Target, 'channel' | 'format'>

const accountOf = ({ channel, format }: AccountTarget): string =>
  accounts.getOrInsertComputed(format, () =>
    hashOf(format, channel.pooled?.accountKey ?? channel.key, channel.auth as object | undefined),
  )

const accounts = new WeakMap<ChannelFormat, string>()

const hashOf = ({ format, baseUrl, headers, query }: ChannelFormat, key = '', auth?: object): string =>
  createHash('sha256')
    .update(JSON.stringify([format, baseUrl, headers, query, key, auth]))
    .digest('base64url')

/** Length of an account's hash in stored records, in characters. */
const HASH_LENGTH = 16

/** Returns the name of a target's account in stored records of signatures: a hash of its credentials, and its name. */
export const signerOf = (target: AccountTarget): string =>
  `${accountOf(target).slice(0, HASH_LENGTH)} ${accountName(target.channel)}`

/**
 * Returns true if a target reaches the account that issued a signature. A channel that changed its name or its key
 * remains the same account. If the keys of a pool belong to separate accounts, each key is its own account.
 *
 * @param signer the result of `signerOf` when the signature was issued.
 */
export const reachesSigner = (signer: string, target: AccountTarget): boolean =>
  signer.startsWith(accountOf(target).slice(0, HASH_LENGTH)) ||
  signer.slice(HASH_LENGTH + 1) === accountName(target.channel)

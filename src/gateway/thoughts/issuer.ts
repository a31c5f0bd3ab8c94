import { createHash } from 'node:crypto'
import type { ChannelFormat } from '../../config/index.ts'
import type { Candidate } from '../../router.ts'

const accounts = new WeakMap<ChannelFormat, string>()

/**
 * Who can read the proofs of a candidate's answers: one model of one account at one address. OpenAI's are good in one
 * organisation, the newest ones of Claude in one account, and where another model cannot read one it is refused or
 * dropped (traps 30, 33). A channel may change its name or its limits; with another key it is another issuer.
 */
export const issuerOf = ({ channel, format, upstreamModel }: Candidate): string =>
  `${accountOf(format, channel.key)} ${upstreamModel}`

function accountOf(format: ChannelFormat, key: string | undefined): string {
  const known = accounts.get(format)
  if (known !== undefined) return known
  const { baseUrl, headers, query } = format
  const account = createHash('sha256')
    .update(JSON.stringify([format.format, baseUrl, headers, query, key ?? '']))
    .digest('base64url')
  accounts.set(format, account)
  return account
}

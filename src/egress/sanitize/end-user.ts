import { createHash } from 'node:crypto'
import type { Losses } from '../../canonical/loss.ts'

/** OpenAI's maximum length of a user id. */
const LONGEST = 64

/** The user id; one that is too long is replaced by its hash, which is always the same. */
export function endUserOf(endUser: string | undefined, losses: Losses): string | undefined {
  if (endUser === undefined || endUser.length <= LONGEST) return endUser
  const hash = createHash('sha256').update(endUser).digest('hex')
  losses.change(['endUser'], hash, 'hashed')
  return hash
}

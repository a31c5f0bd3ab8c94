import { createHash } from 'node:crypto'
import type { Losses } from '../../canonical/loss.ts'

/** The longest name of a user that OpenAI takes. */
const LONGEST = 64

/** The name of a user; a hash as long as may be stands for one that is too long, and is always the same for it. */
export function endUserOf(endUser: string | undefined, losses: Losses): string | undefined {
  if (endUser === undefined || endUser.length <= LONGEST) return endUser
  const hash = createHash('sha256').update(endUser).digest('hex')
  losses.change(['endUser'], hash, 'hashed')
  return hash
}

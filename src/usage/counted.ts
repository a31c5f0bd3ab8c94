import type { Usage } from '../canonical/result.ts'

/** Tokens that no request has, nor its answer: a higher count is wrong. */
const IMPOSSIBLE = 1e8

/** Whether an upstream counted tokens, and they can be true: limits must not be used up by a count that is wrong. */
export const isCounted = ({ input, output }: Usage): boolean =>
  (input !== undefined || output !== undefined) && !((input ?? 0) > IMPOSSIBLE) && !((output ?? 0) > IMPOSSIBLE)

import { expect, test } from 'vitest'
import { lose } from '../../../src/canonical/loss.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import type { CanonicalResult } from '../../../src/canonical/result.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { READERS } from '../../../src/ingress/index.ts'

const REQUEST: CanonicalRequest = { model: 'm', messages: [], output: {}, sampling: {}, stream: false }

/** Writes an answer that failed with a code, and reads it again. */
function throughInteractions(code: string) {
  const error = { kind: 'rate-limited', message: 'Slow down.', code } as const
  const result: CanonicalResult = { id: 'a', model: 'm', candidates: [], error }
  const { wire, losses } = WRITERS['interactions']!.result!(result, REQUEST)
  return { losses, read: READERS['interactions']!.result!(wire, REQUEST).error, left: lose(result, losses).error }
}

test.each([
  ['rate_limit_exceeded', 'implied-by-kind'],
  ['slow_down', 'no-codes'],
  // The word of another kind: writing it would change the kind.
  ['permission_denied', 'no-codes'],
])('the code %s of a failed answer is reported as lost: %s', (code, reason) => {
  const { losses, read, left } = throughInteractions(code)
  expect(losses).toContainEqual(expect.objectContaining({ kind: 'dropped', path: ['error', 'code'], reason }))
  expect(read).toEqual(left)
  expect(read?.kind).toBe('rate-limited')
})

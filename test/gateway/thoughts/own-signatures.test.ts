import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { signaturesIn, withOwnSignatures } from '../../../src/gateway/thoughts/own-signatures.ts'
import type { Signers } from '../../../src/gateway/thoughts/signers.ts'
import type { Target } from '../../../src/upstreams/router.ts'
import { FORMATS, request } from '../../laws/arbitrary.ts'
import { RUNS } from '../../laws/support.ts'

/** Signers that know no signature, so that a target that is not drawn gets none. */
const STRANGERS = { of: () => undefined } as unknown as Signers

const targetOf = (format: string): Target => ({ format: { format }, isDrawn: () => false }) as unknown as Target

test('a history in which no signature is found is sent unchanged, so that it need not be searched again', () => {
  fc.assert(
    fc.property(request, fc.constantFrom(...FORMATS), (asked: CanonicalRequest, format) => {
      const own = withOwnSignatures(asked, targetOf(format), STRANGERS)
      if (signaturesIn(asked).length === 0) expect(own.request).toBe(asked)
      else expect(signaturesIn(own.request).every(signature => signature.format !== format)).toBe(true)
    }),
    { numRuns: RUNS },
  )
})

import fc from 'fast-check'
import { describe, it } from 'vitest'
import { lose } from '../../src/canonical/loss.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { DIALECTS } from './dialects.ts'
import { meaning } from './same.ts'
import { handedTo, holds, same } from './support.ts'
import { WIRES } from './wires.ts'

/** Formats whose upstreams may take only one of the shapes that their callers can choose. */
const FORMATS = Object.keys(WRITERS).filter(format => WRITERS[format]!.mustFetchNative === true)

describe('one’s own format in another shape: nothing is lost that is not reported', () => {
  it.each(FORMATS)('%s', format => {
    holds(fc.tuple(WIRES[format]!.request, DIALECTS[format] ?? fc.constant({})), ([wire, dialect]) => {
      const asked = handedTo(format, READERS[format]!.request!(wire))
      const written = WRITERS[format]!.request!(asked, { native: true, dialect })
      const read = READERS[format]!.request!(JSON.parse(JSON.stringify(written.wire)))
      same(meaning(read), meaning(lose(asked, written.losses)))
    })
  })
})

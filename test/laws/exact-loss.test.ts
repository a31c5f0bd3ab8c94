import fc from 'fast-check'
import { describe, it } from 'vitest'
import { lose } from '../../src/canonical/loss.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { FOREIGN } from '../builders/write-options.ts'
import { DIALECTS } from './dialects.ts'
import { meaning } from './same.ts'
import { handedTo, holds, same } from './support.ts'
import { jobsWith, WORKS } from './works.ts'

describe('exact loss: reading what was written gives the request minus what was reported lost', () => {
  it.each(jobsWith('request'))('%s: %s', (format, work) => {
    holds(WORKS[work]!.request, given => {
      const asked = handedTo(format, given)
      const { wire, losses } = WRITERS[format]!.request!(asked, FOREIGN)
      const read = READERS[format]!.request!(JSON.parse(JSON.stringify(wire)))
      same(meaning(read), meaning(lose(asked, losses)))
    })
  })

  it.each(jobsWith('request').filter(([format]) => DIALECTS[format] !== undefined))(
    '%s: %s, in any dialect',
    (format, work) => {
      holds(fc.tuple(WORKS[work]!.request, DIALECTS[format]!), ([given, dialect]) => {
        const asked = handedTo(format, given)
        const { wire, losses } = WRITERS[format]!.request!(asked, { ...FOREIGN, dialect })
        const read = READERS[format]!.request!(JSON.parse(JSON.stringify(wire)))
        same(meaning(read), meaning(lose(asked, losses)))
      })
    },
  )
})

import { describe, it } from 'vitest'
import { lose } from '../../src/canonical/loss.ts'
import { meaning } from '../../src/canonical/same.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { FOREIGN } from '../../src/egress/writer.ts'
import { READERS } from '../../src/ingress/index.ts'
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
})

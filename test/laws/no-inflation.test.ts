import { describe, expect, it } from 'vitest'
import { chain, drain } from '../../src/canonical/transducer.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { streamed } from './arbitrary-result.ts'
import { holds } from './support.ts'
import { jobsWith, WORKS } from './works.ts'

describe('no inflation: a stream that goes through its own format gains no events', () => {
  it.each(jobsWith('events'))('%s: %s', (format, work) => {
    const { asked, result } = WORKS[work]!
    holds(streamed(result), ({ events }) => {
      const wire = drain(WRITERS[format]!.events!(asked), events)
      const again = drain(chain(READERS[format]!.events!(asked), WRITERS[format]!.events!(asked)), wire)
      expect(again.length).toBeLessThanOrEqual(wire.length)
    })
  })
})

import { describe, expect, test } from 'vitest'
import { lose } from '../../src/canonical/loss.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { FOREIGN, NATIVE } from '../builders/write-options.ts'
import { meaning } from '../laws/same.ts'
import { plain, same } from '../laws/support.ts'
import { asAccepted, formatsOf, present, type Recording, recorded, recordingsOf, where } from './recording.ts'

const FORMATS = formatsOf('request')

const requestsOf = (format: string): readonly Recording[] =>
  recordingsOf(format).filter(({ request }) => request !== undefined)

describe.skipIf(!present).each(recorded(FORMATS))(`recorded requests of %s${where}`, format => {
  describe('are sent unchanged, with no losses', () => {
    test.each(requestsOf(format).map(({ name, request }) => [name, request!] as const))('%s', (_, request) => {
      const { wire, losses } = WRITERS[format]!.request!(READERS[format]!.request!(request), NATIVE)
      same(wire.body, asAccepted(request.body))
      expect(losses).toEqual([])
      if (format === 'contents') expect(wire.path).toBe(request.path)
      if (format === 'converse') expect(request.path.endsWith(wire.path)).toBe(true)
    })
  })

  describe.each(FORMATS.filter(other => other !== format))('go to %s and are read back minus their losses', other => {
    test.each(requestsOf(format).map(({ name, request }) => [name, request!] as const))('%s', (_, request) => {
      const asked = READERS[format]!.request!(request)
      const { wire, losses } = WRITERS[other]!.request!(asked, FOREIGN)
      same(meaning(READERS[other]!.request!(plain(wire))), meaning(lose(asked, losses)))
    })
  })
})

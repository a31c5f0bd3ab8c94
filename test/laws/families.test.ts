import { describe, expect, it } from 'vitest'
import { repair } from '../../src/canonical/repair.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { familyDialect } from '../../src/formats/index.ts'
import { FOREIGN } from '../builders/write-options.ts'
import { request } from './arbitrary.ts'
import { MODELS, refusals } from './strict-claude.ts'
import { handedTo, holds } from './support.ts'

describe('what a family of Claude does not take is never sent to it (traps 38, 93)', () => {
  it.each(Object.keys(MODELS))('%s', model => {
    const dialect = familyDialect('messages', model)!
    holds(request, given => {
      const asked = repair(handedTo('messages', { ...given, model })).request
      const { body } = WRITERS['messages']!.request!(asked, { ...FOREIGN, dialect }).wire
      expect(refusals(model, body)).toEqual([])
      if (asked.tools?.some(({ type }) => type === 'function')) expect(body['tools']).not.toEqual([])
    })
  })
})

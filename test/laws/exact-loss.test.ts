import fc from 'fast-check'
import { describe, it } from 'vitest'
import { lose } from '../../src/canonical/loss.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { FOREIGN } from '../builders/write-options.ts'
import { DIALECTS } from './dialects.ts'
import { meaning } from './same.ts'
import { handedTo, holds, same } from './support.ts'
import { jobsWith, WORKS } from './works.ts'

/** Compares what is read from a written request with the request minus its losses. */
function isExact(format: string, asked: CanonicalRequest, dialect: JsonObject): void {
  const { wire, losses } = WRITERS[format]!.request!(asked, { ...FOREIGN, dialect })
  const read = READERS[format]!.request!(JSON.parse(JSON.stringify(wire)))
  same(meaning(read), meaning(lose(asked, losses)))
}

describe('exact loss: reading what was written gives the request minus what was reported lost', () => {
  it('cohere-chat: reasoning that continues that of a turn with another name', () => {
    const part = { type: 'reasoning', text: 'a' } as const
    const messages = [
      { role: 'assistant', content: [part] },
      { role: 'assistant', name: 'Ada', content: [{ ...part, continues: true }] },
    ] as const
    isExact('cohere-chat', { model: 'm', output: {}, sampling: {}, stream: false, messages }, { thinks: true })
  })

  it.each(jobsWith('request'))('%s: %s', (format, work) => {
    holds(WORKS[work]!.request, given => isExact(format, handedTo(format, given), {}))
  })

  it.each(jobsWith('request').filter(([format]) => DIALECTS[format] !== undefined))(
    '%s: %s, in any dialect',
    (format, work) => {
      holds(fc.tuple(WORKS[work]!.request, DIALECTS[format]!), ([given, dialect]) =>
        isExact(format, handedTo(format, given), dialect),
      )
    },
  )
})

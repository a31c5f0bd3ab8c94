import { describe, it } from 'vitest'
import { lose } from '../../src/canonical/loss.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { resultMeaning } from './same.ts'
import { holds, plain, same } from './support.ts'
import { jobsWith, WORKS } from './works.ts'

describe('exact loss: an answer read back is the answer minus what was reported lost', () => {
  it.each(jobsWith('result'))('%s: %s', (format, work) => {
    const { asked, result, examples } = WORKS[work]!
    const check = (answer: CanonicalResult): void => {
      const { wire, losses } = WRITERS[format]!.result!(answer, asked)
      same(resultMeaning(READERS[format]!.result!(plain(wire), asked)), resultMeaning(lose(answer, losses)))
    }
    holds(result, check, examples)
  })
})

describe('second pass: an answer that was read back loses nothing when written again', () => {
  it.each(jobsWith('result'))('%s: %s', (format, work) => {
    const { asked, result, examples } = WORKS[work]!
    const check = (answer: CanonicalResult): void => {
      const reader = READERS[format]!
      const once = reader.result!(plain(WRITERS[format]!.result!(answer, asked).wire), asked)
      const twice = WRITERS[format]!.result!(once, asked)
      same(twice.losses, [])
      same(resultMeaning(reader.result!(plain(twice.wire), asked)), resultMeaning(once))
    }
    holds(result, check, examples)
  })
})

describe('pure and stable: writing an answer changes nothing and gives equal bytes twice', () => {
  it.each(jobsWith('result'))('%s: %s', (format, work) => {
    const { asked, result, examples } = WORKS[work]!
    const check = (answer: CanonicalResult): void => {
      const before = structuredClone(answer)
      const first = JSON.stringify(WRITERS[format]!.result!(answer, asked))
      same(answer, before)
      same(JSON.stringify(WRITERS[format]!.result!(answer, asked)), first)
    }
    holds(result, check, examples)
  })
})

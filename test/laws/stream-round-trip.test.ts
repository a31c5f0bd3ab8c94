import { describe, it } from 'vitest'
import { fold } from '../../src/canonical/fold.ts'
import { lose } from '../../src/canonical/loss.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { chain, drain } from '../../src/canonical/transducer.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { type Streamed, streamed, uncut } from './arbitrary-result.ts'
import { streamLook } from './exceptions.ts'
import { grammarFault } from './grammar.ts'
import { resultMeaning } from './same.ts'
import { holds, plain, same } from './support.ts'
import { jobsWith, WORKS } from './works.ts'

const throughWire = (format: string, asked: CanonicalRequest) =>
  chain(WRITERS[format]!.events!(asked), READERS[format]!.events!(asked))

describe('wire round trip: a stream written and read folds to the answer minus what a whole answer loses', () => {
  it.each(jobsWith('events'))('%s: %s', (format, work) => {
    const { asked, result, examples = [] } = WORKS[work]!
    const check = ({ result: answer, events }: Streamed): void => {
      const look = streamLook(format)
      const got = fold(drain(throughWire(format, asked), events))
      const { losses } = WRITERS[format]!.result!(answer, asked)
      same(resultMeaning(look(resultMeaning(got))), resultMeaning(look(resultMeaning(lose(answer, losses)))))
    }
    holds(streamed(result), check, examples.map(uncut))
  })
})

describe('square: streamed or whole, the caller gets the same answer', () => {
  it.each(jobsWith('events'))('%s: %s', (format, work) => {
    const { asked, result, examples = [] } = WORKS[work]!
    const check = ({ result: answer, events }: Streamed): void => {
      const look = streamLook(format)
      const streamedAnswer = fold(drain(throughWire(format, asked), events))
      const whole = READERS[format]!.result!(plain(WRITERS[format]!.result!(answer, asked).wire), asked)
      same(resultMeaning(look(resultMeaning(streamedAnswer))), resultMeaning(look(resultMeaning(whole))))
    }
    holds(streamed(result), check, examples.map(uncut))
  })
})

describe('grammar: what a reader makes of a written stream is well-formed, also when it is cut short', () => {
  it.each(jobsWith('events'))('%s: %s', (format, work) => {
    const { asked, result } = WORKS[work]!
    holds(streamed(result), ({ events }) => {
      const wire = drain(WRITERS[format]!.events!(asked), events)
      for (const length of new Set([wire.length, wire.length >> 1, wire.length - 1])) {
        const read = drain(READERS[format]!.events!(asked), wire.slice(0, length))
        same(grammarFault(read), undefined)
      }
    })
  })
})

import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import { lose } from '../../src/canonical/loss.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'
import { drain } from '../../src/canonical/transducer.ts'
import type { WireRequest } from '../../src/canonical/wire.ts'
import { workOf } from '../../src/canonical/work.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { FORMAT_FACTS } from '../../src/formats/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { FOREIGN, NATIVE } from '../builders/write-options.ts'
import { asked } from '../laws/arbitrary-result.ts'
import { grammarFault } from '../laws/grammar.ts'
import { relayed } from '../laws/relayed.ts'
import { meaning, resultMeaning } from '../laws/same.ts'
import { conversing, plain, same } from '../laws/support.ts'
import { ANSWERS, REQUESTS } from './allowances.ts'
import { present } from './allowed.ts'
import { finished, hears, TELLINGS } from './spoken.ts'

/*
 * Every value that the published schemas allow is accepted. No reader refuses it, and no writer drops it without
 * reporting a loss.
 */

/** Number of runs. `RUNS=5000 npm test` searches deeper. */
const RUNS = Number(process.env['RUNS'] ?? 100)

function holds<T>(arbitrary: fc.Arbitrary<T>, check: (value: T) => void): void {
  fc.assert(
    fc.property(arbitrary, value => check(plain(value))),
    { numRuns: RUNS },
  )
}

const OTHERS = conversing('request')

/** A writer may refuse only if no request at all can be written. */
function tried<T>(write: () => T): T | undefined {
  try {
    return write()
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.error.kind === 'cannot-express') return undefined
    throw thrown
  }
}

interface Schemas {
  readonly request: v.GenericSchema
  requestAt?(wire: WireRequest): v.GenericSchema
}

describe.skipIf(!present)('requests the schemas allow', () => {
  it.each(REQUESTS)('%s: come in and go out to the same format unchanged', async (_, format, requests) => {
    const schemas = (await import(`../../src/ingress/${format}/wire.ts`)) as Schemas
    holds(requests, wire => {
      const { wire: written, losses } = WRITERS[format]!.request!(READERS[format]!.request!(wire), NATIVE)
      same(written.body, wire.body)
      expect(losses).toEqual([])
      expect(v.safeParse(schemas.requestAt?.(wire) ?? schemas.request, wire.body).issues).toBeUndefined()
    })
  })

  it.each(REQUESTS)('%s: go out to any other format minus what is told as lost', (_, format, requests) => {
    holds(requests, wire => {
      const request = READERS[format]!.request!(wire)
      for (const other of OTHERS) {
        if (other === format || !FORMAT_FACTS.get(other)!.does.includes(workOf(request))) continue
        const written = tried(() => WRITERS[other]!.request!(request, FOREIGN))
        if (written === undefined) continue
        same(meaning(READERS[other]!.request!(plain(written.wire))), meaning(lose(request, written.losses)))
      }
    })
  })
})

const read = (format: string, body: JsonObject) => READERS[format]!.result!({ status: 200, headers: {}, body }, asked)

describe.skipIf(!present)('answers the schemas allow', () => {
  it.each(ANSWERS)('%s: go out to the same format unchanged', (_, format, answers) => {
    holds(answers, body => {
      const { wire, losses } = WRITERS[format]!.result!(read(format, body), asked)
      same(wire.body, body)
      expect(losses).toEqual([])
    })
  })

  it.each(ANSWERS)('%s: go out to any other format minus what is told as lost', (_, format, answers) => {
    holds(answers, body => {
      const result = { id: 'id', createdAt: 1, model: 'm', ...read(format, body) }
      if (result.candidates.length === 0 || hasAmbiguousCalls(result)) return
      for (const other of OTHERS) {
        if (other === format) continue
        const { wire, losses } = WRITERS[other]!.result!(result, asked)
        const back = READERS[other]!.result!(plain(wire), asked)
        same(withoutStatus(resultMeaning(back)), withoutStatus(resultMeaning(lose(result, losses))))
      }
    })
  })
})

/** Calls without an id of their own get one when the answer is read in another format (trap 6). */
function hasAmbiguousCalls({ candidates }: CanonicalResult): boolean {
  const ids = candidates.flatMap(({ content }) => content.flatMap(part => (part.type === 'tool-call' ? [part.id] : [])))
  return ids.includes('') || new Set(ids).size < ids.length
}

/** The status of an error inside an answer follows from its kind. */
const withoutStatus = (result: object): JsonObject => {
  const { error, ...others } = plain(result) as JsonObject
  if (error === undefined) return others
  const { status: _, ...rest } = error as JsonObject
  return { ...others, error: rest }
}

describe.skipIf(!present)('streams of events the schemas allow', () => {
  const streams = ANSWERS.filter(([, format]) => TELLINGS[format] !== undefined)

  it.each(streams)('%s: say the same when they leave in the same format', (_, format, answers) => {
    holds(answers, body => {
      const { tell } = TELLINGS[format]!
      const wire = tell(finished(format, body)).map(one => ({ event: String(one['type']), data: JSON.stringify(one) }))
      const events = drain(READERS[format]!.events!(asked), wire)
      expect(grammarFault(events)).toBeUndefined()
      same(hears(format, relayed(format, asked, wire)), hears(format, wire))
    })
  })

  it.each(streams)('%s: leave in any other format', (_, format, answers) => {
    holds(answers, body => {
      const wire = TELLINGS[format]!.tell(finished(format, body)).map(event => ({ data: JSON.stringify(event) }))
      const events = drain(READERS[format]!.events!(asked), wire)
      for (const other of OTHERS) {
        const written = drain(WRITERS[other]!.events!(asked), events)
        expect(grammarFault(drain(READERS[other]!.events!(asked), written))).toBeUndefined()
      }
    })
  })
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { withNewIds } from '../../../src/kit/recordings/new-ids.ts'
import type { ServedAnswer } from '../../../src/kit/recordings/served-answer.ts'
import { holds } from '../../laws/runs.ts'

const SUFFIX = '_replay0123456789ab'

/** Texts with characters that end lines for regular expressions, but not for streams. */
const text = fc.string({ unit: fc.constantFrom('a', 'é', ' ', '\u2028', '\u2029', '\u0085', '🎹') })

const streamOf = (data: readonly object[]): ServedAnswer => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  ms: 0,
  isComplete: true,
  chunks: data.map(one => ({ ms: 0, bytes: Buffer.from(`data: ${JSON.stringify(one)}\n\n`) })),
})

test('ids get new suffixes whatever text stands beside them in the event', () => {
  holds(fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 4 }), texts => {
    const events = texts.map(([before, after], index) => ({ before, id: `msg_${index}`, after }))
    const renamed = events.map(event => ({ ...event, id: `${event.id}${SUFFIX}` }))
    expect(withNewIds(streamOf(events), SUFFIX)).toEqual(streamOf(renamed))
  })
})

import { expect, test } from 'vitest'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { drain } from '../../src/canonical/transducer.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { REQUEST } from '../builders/requests.ts'

const at = (part: number) => ({ candidate: 0, part })

/** A call that never ends, and a text after it. */
const HELD: readonly CanonicalEvent[] = [
  { type: 'result-start' },
  { type: 'part-start', at: at(0), part: { type: 'tool-call', id: 'a', name: 'f', arguments: '' } },
  { type: 'part-delta', at: at(0), append: '{"x":' },
  { type: 'part-start', at: at(1), part: { type: 'text', text: '' } },
  { type: 'part-delta', at: at(1), append: 'Hello.' },
]
const ERROR: CanonicalEvent = { type: 'error', error: { kind: 'upstream-failed', message: 'It broke.' } }

test.each(['chat', 'completions', 'contents'])('%s: a text that waits for a call comes before the error', format => {
  for (const events of [[...HELD, ERROR], HELD]) {
    const sent = drain(WRITERS[format]!.events!(REQUEST), events).map(({ data }) => data)
    const text = sent.findIndex(data => data.includes('Hello.'))
    expect(text).toBeGreaterThanOrEqual(0)
    expect(text).toBeLessThan(sent.findIndex(data => data.includes('"error"')))
  }
})

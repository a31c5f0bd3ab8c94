import { expect, test } from 'vitest'
import type { CanonicalEvent } from '../../../src/canonical/event.ts'
import { fold } from '../../../src/canonical/fold.ts'
import { userMessage } from '../../../src/canonical/request.ts'
import { drain } from '../../../src/canonical/transducer.ts'
import { completions as writer } from '../../../src/egress/completions/index.ts'
import { asked } from '../../laws/arbitrary-result.ts'

const at = { candidate: 0, part: 0 }

test('an opaque part is written as in a whole answer: its own text at its start, and no deltas', () => {
  const part = { type: 'opaque', format: 'other', value: {}, text: 'one ' } as const
  const events: CanonicalEvent[] = [
    { type: 'result-start', id: 'i', model: 'm' },
    { type: 'part-start', at, part },
    { type: 'part-delta', at, append: 'two' },
    { type: 'part-end', at },
    { type: 'candidate-end', candidate: 0, finish: { reason: 'stop' } },
    { type: 'result-end' },
  ]
  const { choices } = writer.result!(fold(events), asked).wire.body as {
    readonly choices: readonly { readonly text: string }[]
  }
  const streamed = drain(writer.events!(asked), events)
    .flatMap(({ data }) => (data === '[DONE]' ? [] : [JSON.parse(data)]))
    .map(({ choices: [choice] }) => choice?.text ?? '')
    .join('')
  expect([choices[0]!.text, streamed]).toEqual(['one ', 'one '])
})

test.each(['before', 'behind'])('tokens that arrive %s their text have the offsets of a whole answer', place => {
  const request = { ...asked, messages: [userMessage('Once ')], output: { completion: { echo: true } } }
  const logprobs: CanonicalEvent = {
    ...{ type: 'logprobs', candidate: 0 },
    append: ['up', 'on'].map(token => ({ token, logprob: -1 })),
  }
  const events: CanonicalEvent[] = [
    { type: 'result-start', id: 'i', model: 'm' },
    ...(place === 'before' ? [logprobs] : []),
    { type: 'part-start', at, part: { type: 'text', text: '' } },
    { type: 'part-delta', at, append: 'upon' },
    { type: 'part-end', at },
    ...(place === 'behind' ? [logprobs] : []),
    { type: 'candidate-end', candidate: 0, finish: { reason: 'stop' } },
    { type: 'result-end' },
  ]
  const offsets = drain(writer.events!(request), events)
    .flatMap(({ data }) => (data === '[DONE]' ? [] : JSON.parse(data).choices))
    .flatMap(({ logprobs }) => logprobs?.text_offset ?? [])
  expect(offsets).toEqual([5, 7])
})

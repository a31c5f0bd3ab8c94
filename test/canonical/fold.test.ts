import { expect, test } from 'vitest'
import type { Annotation, Part } from '../../src/canonical/content.ts'
import { applyEvent, EMPTY_RESULT, fold, patched } from '../../src/canonical/fold.ts'

const AT = { candidate: 0, part: 0 }
const FIRST: Annotation = { type: 'citation', url: 'https://a.example' } as unknown as Annotation
const SECOND: Annotation = { type: 'citation', url: 'https://b.example' } as unknown as Annotation
const SIGNATURE = { format: 'messages', value: 's' }

const spoken: Part = { type: 'media', source: { type: 'base64', mediaType: 'audio/pcm', data: 'QUJD' } } as Part

test('a transcript grows beside the data of spoken parts, and nothing else has one', () => {
  const delta = (append: string) => ({ type: 'part-delta', at: AT, append, of: 'transcript' }) as const
  const data = { type: 'part-delta', at: AT, append: 'REVG' } as const
  const { candidates } = fold([{ type: 'part-start', at: AT, part: spoken }, delta('Hel'), data, delta('lo')])
  expect(candidates[0]!.content[0]).toEqual({
    ...{ type: 'media', transcript: 'Hello' },
    source: { type: 'base64', mediaType: 'audio/pcm', data: 'QUJDREVG' },
  })
  const text = fold([{ type: 'part-start', at: AT, part: { type: 'text', text: 'a' } }, delta('x')])
  expect(text.candidates[0]!.content[0]).toEqual({ type: 'text', text: 'a' })
})

test('a patch adds annotations to a text and a signature to reasoning, and changes no other part', () => {
  const patch = { type: 'part-patch', at: AT, annotations: [SECOND], signature: SIGNATURE } as const
  const annotations = [FIRST]
  expect(patched({ type: 'text', text: 'a', annotations }, patch)).toEqual({
    ...{ type: 'text', text: 'a', annotations: [FIRST, SECOND] },
  })
  const once = patched({ type: 'text', text: 'a' }, patch)
  patched(once, patch)
  expect([annotations, once]).toEqual([[FIRST], { type: 'text', text: 'a', annotations: [SECOND] }])
  expect(patched({ type: 'reasoning', text: 'a' }, patch)).toEqual({
    ...{ type: 'reasoning', text: 'a', signature: SIGNATURE },
  })
  expect(patched(spoken, patch)).toEqual(spoken)
  const replaced = { ...patch, part: { type: 'text', text: 'b' } as const }
  expect(patched(spoken, replaced)).toEqual({ type: 'text', text: 'b', annotations: [SECOND] })
})

test('extras of a patch are merged with those of the part, format by format', () => {
  const part: Part = { type: 'text', text: 'a', extras: { chat: { a: 1 }, messages: { b: 2 } } }
  const patch = { type: 'part-patch', at: AT, extras: { chat: { c: 3 } }, spelling: { chat: { d: 4 } } } as const
  expect(patched(part, patch)).toEqual({
    ...{ type: 'text', text: 'a', extras: { chat: { a: 1, c: 3 }, messages: { b: 2 } }, spelling: { chat: { d: 4 } } },
  })
})

test('an event leaves the result and its lists as they were, unless they may be mutated', () => {
  const part: Part = { type: 'text', text: 'a', annotations: [FIRST] }
  const before = { candidates: [{ content: [part], logprobs: [], transcript: { words: [] } }] }
  const copy = structuredClone(before)
  let result = before as unknown as typeof EMPTY_RESULT
  for (const event of [
    { type: 'part-patch', at: AT, annotations: [SECOND] },
    { type: 'part-start', at: { candidate: 1, part: 1 }, part },
    { type: 'logprobs', candidate: 0, append: [{ token: 't', logprob: 0 }] },
    { type: 'transcript', candidate: 0, transcript: { words: [{ text: 'w', start: 0, end: 1 }] } },
    { type: 'candidate-end', candidate: 0, finish: { reason: 'stop' } },
  ] as never[])
    result = applyEvent(result, event)
  expect(before).toEqual(copy)
  expect(result.candidates).toHaveLength(2)
  expect(result.candidates[1]!.content).toEqual([{ type: 'text', text: '' }, part])
  expect(EMPTY_RESULT).toEqual({ candidates: [] })
})

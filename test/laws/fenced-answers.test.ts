import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { fold, unfold } from '../../src/canonical/fold.ts'
import { restorer } from '../../src/canonical/restore.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'
import { chain, drain } from '../../src/canonical/transducer.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { result as resultOf } from '../builders/results.ts'
import { FOREIGN } from '../builders/write-options.ts'
import { holds } from './support.ts'

/* Answers in a code fence of Markdown, for callers who asked for JSON. */

const RESTORER = restorer(undefined, { mayBeFenced: true })!

const answerOf = (text: string): CanonicalResult => resultOf([{ type: 'text', text }])

const textOf = ({ candidates }: CanonicalResult): string =>
  candidates[0]!.content.map(part => ('text' in part ? part.text : '')).join('')

const whole = (text: string): string => textOf(RESTORER.result(answerOf(text)))

/** Returns the answer of a stream whose text arrives in chunks of these lengths. */
function streamed(given: string, lengths: readonly number[]): string {
  const events = unfold(answerOf('')).flatMap((event): CanonicalEvent[] => {
    if (event.type !== 'part-end') return event.type === 'part-delta' ? [] : [event]
    const pieces: string[] = []
    for (let from = 0, at = 0; from < given.length; from += pieces.at(-1)!.length)
      pieces.push(given.slice(from, from + lengths[at++ % lengths.length]!))
    return [...pieces.map(append => ({ type: 'part-delta', at: event.at, append }) as const), event]
  })
  return textOf(fold(drain(RESTORER.events(), events)))
}

const lengths = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 })
const json = fc.json().map(text => JSON.stringify(JSON.parse(text), undefined, text.length % 3))
const opening = fc
  .tuple(fc.constantFrom('', '\n', '  \n'), fc.constantFrom('', 'json', 'JSON'), fc.constantFrom('\n', ' \n', '\r\n'))
  .map(([before, language, end]) => `${before}\`\`\`${language}${end}`)
const closing = fc.constantFrom('\n```', '\n```\n', '\n```  \n\n')

describe('an answer in a code fence', () => {
  it('arrives without it, complete or split anywhere', () => {
    holds(fc.tuple(opening, json, closing, lengths), ([before, text, after, cuts]) => {
      expect(whole(before + text + after)).toBe(text)
      expect(streamed(before + text + after, cuts)).toBe(text)
    })
  })

  it('is unchanged if it has none', () => {
    const other = fc.constantFrom('``', '`a`', '```', '```json', 'Here it is:\n```json\n{}\n```', ' \n{}', '{}\n```\n')
    holds(fc.tuple(fc.oneof(json, other), lengths), ([text, cuts]) => {
      expect(whole(text)).toBe(text)
      expect(streamed(text, cuts)).toBe(text)
    })
  })

  it('keeps all text behind a fence that ends earlier', () => {
    expect(whole('```json\n{}\n```\nThat is all.')).toBe('{}\n```\nThat is all.')
    expect(whole('```json\n{}\n```\n\n```json\n[]\n```')).toBe('{}\n```\n\n```json\n[]\n```')
  })

  it('is equal complete and streamed, whatever the model writes, and lacks nothing but fences', () => {
    const unit = fc.constantFrom('`', '```', 'json', '\n', '\r', ' ', '\t', '{', '}', 'x', '🎹', ' '.repeat(60))
    holds(fc.tuple(fc.string({ unit }), lengths), ([text, cuts]) => {
      expect(streamed(text, cuts)).toBe(whole(text))
      expect(text.endsWith(whole(text)) || text.includes(`${whole(text)}\n\`\`\``)).toBe(true)
    })
  })

  it('arrives as soon as its text does', () => {
    const at = { candidate: 0, part: 0 }
    const events = RESTORER.events()
    events.push({ type: 'part-start', at, part: { type: 'text', text: '' } })
    const push = (append: string) =>
      events.push({ type: 'part-delta', at, append }).map(event => ('append' in event ? event.append : event.type))
    expect(push('``')).toEqual([])
    expect(push('`json\n{"a":')).toEqual(['{"a":'])
    expect(push(' 1}\n')).toEqual([' 1}'])
    expect(push('```')).toEqual([])
  })
})

describe('callers of chat completions who ask for JSON of any shape', () => {
  const body = {
    model: 'm',
    messages: [{ role: 'user', content: 'JSON, please.' }],
    response_format: { type: 'json_object' },
  }
  const request = READERS['chat']!.request!({ path: '/v1/chat/completions', query: {}, headers: {}, body })

  it.each(['messages', 'converse'])('ask in words at %s, and get the answer without a fence', format => {
    const { wire, losses, renamed, mayBeFenced } = WRITERS[format]!.request!(request, FOREIGN)
    expect(JSON.stringify(wire.body['system'])).toContain('Answer with a JSON object.')
    expect(losses.map(({ reason }) => reason)).toEqual(
      expect.arrayContaining(['json-needs-a-schema', 'json-asked-for-in-words']),
    )
    const restoring = restorer(renamed, { mayBeFenced })!
    const answer = WRITERS[format]!.result!(answerOf('```json\n{"a": 1}\n```'), request)
    expect(textOf(restoring.result(READERS[format]!.result!(answer.wire, request)))).toBe('{"a": 1}')
    const asked = { ...request, stream: true }
    const through = chain(READERS[format]!.events!(asked), restoring.events())
    const events = drain(WRITERS[format]!.events!(asked), unfold(answerOf('```json\n{"a": 1}\n```')))
    expect(textOf(fold(drain(through, events)))).toBe('{"a": 1}')
  })
})

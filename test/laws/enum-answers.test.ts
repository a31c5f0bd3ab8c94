import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { fold, unfold } from '../../src/canonical/fold.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { restorer } from '../../src/canonical/restore.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'
import { chain, drain } from '../../src/canonical/transducer.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { result as resultOf } from '../builders/results.ts'
import { FOREIGN } from '../builders/write-options.ts'
import { holds } from './support.ts'

/* Trap 112: answers that are one string of an enum, with upstreams whose structured answers are objects. */

const read = (values: readonly string[]) =>
  READERS['contents']!.request!({
    path: '/v1beta/models/m:generateContent',
    query: {},
    headers: {},
    body: {
      contents: [{ role: 'user', parts: [{ text: 'Which instrument?' }] }],
      generationConfig: {
        responseMimeType: 'text/x.enum',
        responseSchema: { type: 'STRING', format: 'enum', title: 'Instrument', enum: values },
      },
    },
  })

const answerOf = (text: string): CanonicalResult => resultOf([{ type: 'text', text }])

const UPSTREAMS = ['chat', 'responses', 'messages']
const RESTORER = restorer(undefined, { wrapsEnum: true })!

/** Returns the schema of the answer in each format's body. */
const schemaIn = (format: string, body: JsonObject) => {
  // biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
  const wire = body as any
  if (format === 'chat') return wire.response_format.json_schema
  return format === 'responses' ? wire.text.format : wire.output_config.format
}

describe('the request', () => {
  it.each(UPSTREAMS)('trap 112: requests from %s an object with one string', format => {
    const { wire, losses } = WRITERS[format]!.request!(read(['Piano', 'Lute']), FOREIGN)
    const { schema, strict } = schemaIn(format, wire.body)
    expect(schema).toEqual({
      type: 'object',
      properties: { value: { type: 'string', enum: ['Piano', 'Lute'], title: 'Instrument' } },
      required: ['value'],
      additionalProperties: false,
    })
    expect(strict).toBe(format === 'messages' ? undefined : true)
    expect(losses.filter(({ path }) => path[0] === 'output').filter(({ restored }) => restored !== true)).toEqual(
      format === 'messages' ? [] : [expect.objectContaining({ reason: 'minted-schema-name' })],
    )
  })

  it('is a loss if the upstream takes no schema, and is unchanged for a schema that is no enum of strings', () => {
    const { wire, losses } = WRITERS['chat']!.request!(read(['a']), { ...FOREIGN, dialect: { json_schema: false } })
    expect(wire.body).not.toHaveProperty('response_format')
    expect(losses).toContainEqual({ kind: 'dropped', path: ['output', 'text'], reason: 'no-json-schema' })
    expect(read([]).output.text).toBeUndefined()
  })
})

/** Returns different JSON texts of the same object. */
const spelled = (value: string) =>
  fc
    .tuple(fc.constantFrom('', ' ', '\n  ', '\t\r'), fc.constantFrom('', ' '), fc.boolean())
    .map(([gap, tail, isAscii]) => {
      const text = JSON.stringify(value)
      const escaped = [...Array(text.length).keys()]
        .map(index => text[index]!)
        .map(unit => (unit > '~' ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}` : unit))
        .join('')
      return `${gap}{${gap}"value"${gap}:${gap}${isAscii ? escaped : text}${gap}}${tail}`
    })

/** Returns the answer of a stream whose text arrives in chunks of these lengths. */
function streamed(given: string, lengths: readonly number[], restored = RESTORER): string {
  const events = unfold(answerOf('')).flatMap((event): CanonicalEvent[] => {
    if (event.type !== 'part-end') return event.type === 'part-delta' ? [] : [event]
    const pieces: string[] = []
    for (let from = 0, at = 0; from < given.length; from += pieces.at(-1)!.length)
      pieces.push(given.slice(from, from + (lengths[at++ % lengths.length] ?? 1)))
    return [...pieces.map(append => ({ type: 'part-delta', at: event.at, append }) as const), event]
  })
  return textOf(fold(drain(restored.events(), events)))
}

const textOf = ({ candidates }: CanonicalResult): string =>
  candidates[0]!.content.map(part => ('text' in part ? part.text : '')).join('')

const member = fc.string({ unit: fc.constantFrom('a', 'é', '🎹', '"', '\\', '\n', ' ', '{', '\u2028', '\u0001') })
const lengths = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 })

describe('the answer', () => {
  it('is exactly that member of the enum, complete or split anywhere', () => {
    holds(
      fc.tuple(
        member.chain(value => fc.tuple(fc.constant(value), spelled(value))),
        lengths,
      ),
      ([[value, wire], cuts]) => {
        expect(textOf(RESTORER.result(answerOf(wire)))).toBe(value)
        expect(streamed(wire, cuts)).toBe(value)
      },
    )
  })

  it('is the plain word if the model answers with it', () => {
    holds(
      fc.tuple(fc.oneof(member, fc.constantFrom('{', '{"value', '{"value":1}', '["a"]', '"a"')), lengths),
      ([word, cuts]) => {
        fc.pre(!/^\s*\{\s*"value"\s*:\s*"/.test(word))
        expect(textOf(RESTORER.result(answerOf(word)))).toBe(word)
        expect(streamed(word, cuts)).toBe(word)
      },
    )
  })

  it('is equal complete and streamed, whatever the upstream sends', () => {
    const unit = fc.constantFrom(
      '{',
      '"',
      'value',
      ':',
      '\\',
      'u',
      'd83d',
      '\\ud83c',
      '}',
      ' ',
      'x',
      '🎹',
      '{"value":"',
    )
    holds(fc.tuple(fc.string({ unit }), lengths), ([wire, cuts]) => {
      expect(streamed(wire, cuts)).toBe(textOf(RESTORER.result(answerOf(wire))))
    })
  })

  it('arrives as soon as its text does, without split characters', () => {
    const at = { candidate: 0, part: 0 }
    const events = RESTORER.events()
    events.push({ type: 'part-start', at, part: { type: 'text', text: '' } })
    const said = (append: string) =>
      events.push({ type: 'part-delta', at, append }).map(event => ('append' in event ? event.append : event.type))
    expect(said('{"value": "Pi')).toEqual(['Pi'])
    expect(said('ano \\ud83c')).toEqual(['ano '])
    expect(said('\\udfb9"')).toEqual(['🎹'])
    expect(said('}')).toEqual([])
  })

  it.each(UPSTREAMS)('of %s is unwrapped, complete and streamed', format => {
    const request = { ...read(['Piano', 'Lute']), stream: true }
    const given = answerOf('{"value":"Lute"}')
    const { wire } = WRITERS[format]!.result!(given, request)
    expect(textOf(RESTORER.result(READERS[format]!.result!(wire, request)))).toBe('Lute')
    const through = chain(READERS[format]!.events!(request), RESTORER.events())
    expect(textOf(fold(drain(through, drain(WRITERS[format]!.events!(request), unfold(given)))))).toBe('Lute')
  })

  it('also has its tools renamed', () => {
    const both = restorer(new Map([['a_b', { name: 'a.b' }]]), { wrapsEnum: true })!
    const call = { type: 'tool-call', id: '1', name: 'a_b', arguments: '{}' } as const
    const given = answerOf('{"value":"Lute"}')
    const [candidate] = given.candidates
    const result = { ...given, candidates: [{ ...candidate!, content: [...candidate!.content, call] }] }
    for (const restored of [both.result(result), fold(drain(both.events(), unfold(result)))])
      expect(restored.candidates[0]!.content).toMatchObject([{ text: 'Lute' }, { name: 'a.b' }])
  })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Part } from '../../../src/canonical/content.ts'
import { fold } from '../../../src/canonical/fold.ts'
import { isObject, type Json, type JsonObject } from '../../../src/canonical/node.ts'
import type { CanonicalResult } from '../../../src/canonical/result.ts'
import { drain } from '../../../src/canonical/transducer.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { REQUEST } from '../../builders/requests.ts'
import { grammarFault } from '../../laws/grammar.ts'

const said = (message: JsonObject): JsonObject => ({ delta: { message } })
const START: JsonObject = { type: 'message-start', id: 'a', ...said({ role: 'assistant' }) }
const END: JsonObject = { type: 'message-end', delta: { finish_reason: 'COMPLETE' } }
const block = (index: number, type = 'text'): JsonObject => ({
  type: 'content-start',
  index,
  ...said({ content: { type, [type]: '' } }),
})
const chunk = (index: number, text: string, field = 'text'): JsonObject => ({
  type: 'content-delta',
  index,
  ...said({ content: { [field]: text } }),
})
const call = (index: number, name: string, id = `${name}_1`): JsonObject => ({
  type: 'tool-call-start',
  index,
  ...said({ tool_calls: { id, type: 'function', function: { name, arguments: '' } } }),
})
const grown = (index: number, text: string): JsonObject => ({
  type: 'tool-call-delta',
  index,
  ...said({ tool_calls: { function: { arguments: text } } }),
})

/** Reads events, whose grammar always holds. */
function read(...wire: readonly JsonObject[]): CanonicalResult {
  const events = drain(
    READERS['cohere-chat']!.events!(REQUEST),
    wire.map(one => ({ event: String(one['type']), data: JSON.stringify(one) })),
  )
  expect(grammarFault(events)).toBeUndefined()
  return fold(events)
}

const partsOf = ({ candidates }: CanonicalResult): readonly Part[] => candidates[0]!.content

describe('a stream of Cohere’s chat', () => {
  test('that is cut anywhere is an error, and ends nothing', () => {
    const whole = [START, block(0), chunk(0, 'Hi'), { type: 'content-end', index: 0 }, call(0, 'f'), grown(0, '{}')]
    for (let length = 0; length <= whole.length; length++)
      expect(read(...whole.slice(0, length)).error?.kind).toBe('upstream-failed')
  })

  test('says nothing after its end', () => {
    expect(partsOf(read(START, chunk(0, 'Hi'), END, chunk(0, ' you'), call(0, 'f'), END))).toMatchObject([
      { type: 'text', text: 'Hi' },
    ])
  })

  test('starts each block and call once for each start', () => {
    const parts = partsOf(
      read(START, block(0), chunk(0, 'a'), block(0), chunk(0, 'b'), call(0, 'f'), call(0, 'g'), END),
    )
    expect(parts.map(part => ('name' in part ? part.name : 'text' in part && part.text))).toEqual(['a', 'b', 'f', 'g'])
  })

  test('gives two calls of one id two ids (trap 6)', () => {
    const ids = partsOf(read(START, call(0, 'f', 'x'), call(1, 'f', 'x'), END)).map(part => 'id' in part && part.id)
    expect(new Set(ids).size).toBe(2)
  })

  test('has blocks without a start, which change their kind', () => {
    expect(partsOf(read(chunk(0, 'So', 'thinking'), chunk(0, 'Hi'), END))).toMatchObject([
      { type: 'reasoning', text: 'So' },
      { type: 'text', text: 'Hi' },
    ])
  })

  test.each(['n', 'nul', 'null', '{"a":null}'])('has arguments that begin like null: %s', text => {
    const [part] = partsOf(read(START, call(0, 'f'), ...[...text].map(one => grown(0, one)), END))
    expect(part).toMatchObject({ arguments: text === 'null' ? '' : text })
  })

  test('cites its plan, its first text, a block by its index, and nothing', () => {
    const cited = (fields: JsonObject): JsonObject => ({
      type: 'citation-start',
      index: 0,
      ...said({ citations: { start: 0, end: 1, sources: [], ...fields } }),
    })
    const result = read(
      ...[START, block(0, 'thinking'), block(1), chunk(1, 'one'), block(2), chunk(2, 'two')],
      { type: 'tool-plan-delta', ...said({ tool_plan: 'I will.' }) },
      ...[cited({ type: 'PLAN' }), cited({}), cited({ content_index: 2 }), cited({ content_index: 7 })],
      ...[cited({ type: 'THINKING_CONTENT' }), END],
    )
    const counts = partsOf(result).map(part => ('annotations' in part ? part.annotations!.length : 0))
    expect(counts).toEqual([0, 1, 1, 1])
    expect(result.candidates[0]!.extras?.['cohere-chat']?.['citations']).toHaveLength(2)
  })

  test.each([
    [{ type: 'message-end', delta: { finish_reason: 'ERROR', error: 'The model broke.' } }, 'The model broke.'],
    [{ message: 'too many tokens' }, 'too many tokens'],
    [{ error: { message: 'Down.' } }, 'Down.'],
  ])('ends with the error that it tells: %o', (event, message) => {
    const events = drain(READERS['cohere-chat']!.events!(REQUEST), [{ data: JSON.stringify(event) }])
    expect(fold(events).error).toMatchObject({ kind: 'upstream-failed', message })
  })

  test('never throws and keeps the grammar, whatever its events hold', () => {
    const rubbish = fc.constantFrom<Json>(null, 1, '', 'x', [], {}, [null], [{}], { function: 1 }, { type: 1 })
    const spoil = (value: Json, at: number, by: Json): Json => {
      if (!isObject(value)) return by
      const keys = Object.keys(value).filter(key => key !== 'type' || at % 3 === 0)
      const key = keys[at % Math.max(keys.length, 1)]
      return key === undefined ? by : { ...value, [key]: at % 2 === 0 ? by : spoil(value[key]!, at >> 1, by) }
    }
    const good = fc.constantFrom<JsonObject>(
      ...[
        START,
        END,
        block(0),
        block(1, 'thinking'),
        chunk(0, 'a'),
        call(0, 'f'),
        grown(0, '{'),
        { type: 'content-end' },
      ],
      { type: 'citation-start', index: 0, ...said({ citations: { start: 0, sources: [{ type: 'document' }] } }) },
    )
    const bad = fc
      .tuple(good, fc.nat(999), rubbish)
      .map(([event, at, by]) => spoil(event, at, by))
      .filter(isObject)
    fc.assert(fc.property(fc.array(fc.oneof(good, bad), { maxLength: 12 }), events => void read(...events)))
  })
})

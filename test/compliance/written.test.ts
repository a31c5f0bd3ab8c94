import { describe, expect, it } from 'vitest'
import { ERRORS, type ErrorKind, GatewayError } from '../../src/canonical/error.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { repair } from '../../src/canonical/repair.ts'
import { drain } from '../../src/canonical/transducer.ts'
import type { WireRequest } from '../../src/canonical/wire.ts'
import type { Work } from '../../src/canonical/work.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { RESPONSE_HEAD } from '../builders/results.ts'
import { FOREIGN } from '../builders/write-options.ts'
import { streamed } from '../laws/arbitrary-result.ts'
import { handedTo, holds, plain } from '../laws/support.ts'
import { WORKS } from '../laws/works.ts'
import {
  faultsOfError,
  faultsOfEvent,
  faultsOfRequest,
  faultsOfResult,
  HAS_DESCRIPTIONS,
  PUBLISHED,
} from './published.ts'
import { strange } from './strangers.ts'

/*
 * Everything that the gateway writes in a format for a caller or upstream of another is valid by the publisher's
 * description.
 */

const jobsWith = (direction: 'request' | 'result' | 'event') =>
  Object.entries(PUBLISHED).flatMap(([format, works]) =>
    Object.entries(works)
      .filter(([, published]) => published[direction] !== undefined)
      .map(([work, published]) => [format, work as Work, published] as const),
  )
describe.skipIf(!HAS_DESCRIPTIONS)('requests written for callers of other formats are as published', () => {
  it.each(jobsWith('request'))('%s: %s', (format, work, published) => {
    holds(WORKS[work]!.request, given => {
      const { request } = repair(handedTo(format, strange(given, format)))
      const wire = written(format, request)
      if (wire !== undefined) expect(faultsOfRequest(published, wire, bodyOf(wire))).toEqual([])
    })
  })
})

function written(format: string, request: Parameters<typeof repair>[0]): WireRequest | undefined {
  try {
    return WRITERS[format]!.request!(request, FOREIGN).wire
  } catch (thrown) {
    if (thrown instanceof GatewayError) return undefined
    throw thrown
  }
}

const NUMBERS = new Set(['n', 'output_compression', 'partial_images'])

/** Returns the values that a form's fields represent, with its files as the strings that a description expects. */
function bodyOf({ body, files }: WireRequest): JsonObject {
  if (files === undefined) return plain(body)
  const fields = Object.entries(body).map(([name, value]) => [
    name,
    NUMBERS.has(name) ? Number(value) : name === 'stream' ? value === 'true' : value,
  ])
  return Object.fromEntries([...fields, ...files.map(({ field }) => [field.replace('[]', ''), 'bytes'])])
}

describe.skipIf(!HAS_DESCRIPTIONS)('answers of upstreams of other formats are written as published', () => {
  it.each(jobsWith('result'))('%s: %s', (format, work, published) => {
    const { asked, result } = WORKS[work]!
    holds(result, answer => {
      const { wire } = WRITERS[format]!.result!(
        { ...strange(answer, format), ...RESPONSE_HEAD },
        strange(asked, format),
      )
      expect(faultsOfResult(published, plain(wire.body))).toEqual([])
    })
  })
})

describe.skipIf(!HAS_DESCRIPTIONS)('events of upstreams of other formats are written as published', () => {
  it.each(jobsWith('event'))('%s: %s', (format, work, published) => {
    const { asked, result } = WORKS[work]!
    holds(streamed(result), ({ events }) => {
      const said = strange(events, format).map(one =>
        one.type === 'result-start' ? { ...one, ...RESPONSE_HEAD } : one,
      )
      for (const { data } of drain(WRITERS[format]!.events!(asked), said)) {
        if (data === '[DONE]') continue
        const event = JSON.parse(data) as JsonObject
        if (isError(event)) continue
        expect(faultsOfEvent(published, event)).toEqual([])
      }
    })
  })
})

const TELLERS = [
  ...['chat', 'responses', 'completions', 'embeddings', 'images', 'speech', 'transcriptions'].map(
    format => [format, 'openai'] as const,
  ),
  ['messages', 'anthropic'] as const,
]

describe.skipIf(!HAS_DESCRIPTIONS)('errors are told as published', () => {
  it.each(TELLERS)('%s', (format, by) => {
    for (const kind of Object.keys(ERRORS) as ErrorKind[])
      for (const more of [{}, { param: 'model', code: 'a_code' }]) {
        const { body } = WRITERS[format]!.error!({ kind, message: 'It went wrong.', ...more }, 'req_1')
        expect(faultsOfError(by, plain(body))).toEqual([])
      }
  })
})

const HI = { role: 'user', content: 'Hi.' }
const SPOKEN = { type: 'message', role: 'user', content: [{ type: 'output_text', text: 'Hi.', annotations: [] }] }

/** Requests with one fault each. A description that accepts them proves nothing. */
const WRONG: readonly (readonly [format: string, body: JsonObject, fault: string])[] = [
  ['chat', { model: 'm', messages: [HI], top_k: 1 }, '"top_k"'],
  ['chat', { model: 'm', messages: [{ role: 'user', content: [{ type: 'text' }] }] }, "'text'"],
  ['chat', { model: 'm', messages: [{ ...HI, cache: {} }] }, '"cache"'],
  ['responses', { model: 'm', input: [HI], stop: 'a' }, '"stop"'],
  ['responses', { model: 'm', input: [SPOKEN] }, '/input/#/content/#'],
  ['responses', { model: 'm', input: [{ type: 'function_call', name: 'f', arguments: '{}' }] }, "'call_id'"],
  ['messages', { model: 'm', messages: [HI] }, "'max_tokens'"],
  ['messages', { model: 'm', max_tokens: 1, messages: [{ ...HI, name: 'a' }] }, '"name"'],
  ['contents', { contents: [{ role: 'user', parts: [{ text: 'Hi.', detail: 'low' }] }] }, '"detail"'],
  ['contents', { contents: [], generationConfig: { temperature: 'hot' } }, '/generationConfig/temperature'],
]

describe.skipIf(!HAS_DESCRIPTIONS)('what is wrong is found', () => {
  it.each(WRONG)('%s: %j', (format, body, fault) => {
    const found = faultsOfRequest(PUBLISHED[format]!.conversation!, { path: '', query: {}, headers: {}, body }, body)
    expect(found.join('\n')).toContain(fault)
  })
})

/** Whether an event is an error. Errors inside a stream are not described. */
const isError = ({ type, error }: JsonObject): boolean => type === 'error' || error !== undefined

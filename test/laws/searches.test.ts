import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Part, SearchResultPart } from '../../src/canonical/content.ts'
import { fold, unfold } from '../../src/canonical/fold.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { type CanonicalRequest, userMessage } from '../../src/canonical/request.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'
import { drain } from '../../src/canonical/transducer.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { FOREIGN, NATIVE } from '../builders/write-options.ts'
import { annotated, searchPair } from './arbitrary.ts'
import { asked } from './arbitrary-result.ts'
import { holds, same } from './support.ts'

/* A later turn in another format still has the pages that a hosted search found. */

const SEARCHING = ['messages', 'responses', 'contents'] as const
const SPOKEN = [...SEARCHING, 'chat'] as const
const pairs = SEARCHING.flatMap(from => SPOKEN.filter(to => to !== from).map(to => [from, to] as const))

const searched: fc.Arbitrary<CanonicalResult> = fc.tuple(searchPair, annotated).map(([pair, text]) => ({
  id: 'it',
  model: 'a-model',
  createdAt: 1,
  candidates: [{ content: [...pair, text], finish: { reason: 'stop' } }],
}))

/** The answer as an upstream of the format gives it. */
function answerOf(format: string, result: CanonicalResult): CanonicalResult {
  const { wire } = WRITERS[format]!.result!(result, asked)
  return READERS[format]!.result!(JSON.parse(JSON.stringify(wire)), asked)
}

const contentOf = ({ candidates }: CanonicalResult): readonly Part[] => candidates[0]!.content
const resultsIn = (content: readonly Part[]) =>
  content.filter((part): part is SearchResultPart => part.type === 'search-result')
const urlsIn = (result: CanonicalResult): readonly string[] =>
  resultsIn(contentOf(result)).flatMap(({ sources }) => sources.map(({ url }) => url))
const queriesIn = (result: CanonicalResult): readonly string[] =>
  contentOf(result).flatMap(part => (part.type === 'search-call' ? part.queries : []))

describe('searches: an answer has the queries and pages of its search in every format that has searches', () => {
  it.each(pairs.filter(([, to]) => to !== 'chat'))('%s → %s', (from, to) => {
    holds(searched, given => {
      const result = answerOf(from, given)
      const whole = answerOf(to, result)
      const writer = WRITERS[to]!.events!(asked)
      const wire = [...[...unfold(result)].flatMap(event => writer.push(event)), ...writer.end()]
      const streamed = fold(drain(READERS[to]!.events!(asked), wire))
      for (const one of [whole, streamed]) {
        same(queriesIn(one), queriesIn(result))
        // Grounding metadata also lists the pages that a text cites.
        for (const url of urlsIn(result)) expect(urlsIn(one)).toContain(url)
      }
    })
  })

  it.each(SEARCHING)('%s → chat reports each page that is not cited', from => {
    holds(searched, given => {
      const result = answerOf(from, given)
      const { losses } = WRITERS['chat']!.result!(result, asked)
      const lost = losses.filter(({ kind, restored }) => kind === 'dropped' && restored === undefined)
      for (const [index, part] of contentOf(result).entries())
        if (part.type === 'search-result')
          expect(lost.map(({ path }) => path.join('/'))).toContain(`candidates/0/content/${index}`)
    })
  })
})

const laterTurn = (result: CanonicalResult): CanonicalRequest => ({
  ...{ model: 'a-model', output: {}, sampling: {}, stream: false },
  messages: [userMessage('Tides?'), { role: 'assistant', content: contentOf(result) }, userMessage('And later?')],
})

/** All texts anywhere in a value. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

describe('searches: a later turn has the queries and pages, whatever format it is written in', () => {
  it.each(pairs)('%s → %s', (from, to) => {
    holds(searched, given => {
      const result = answerOf(from, given)
      const texts = textsIn(WRITERS[to]!.request!(laterTurn(result), FOREIGN).wire.body)
      for (const one of [...urlsIn(result), ...queriesIn(result)])
        expect(texts.some(text => text.includes(one))).toBe(true)
    })
  })
})

describe('searches: an upstream of messages gets back only pages that it found itself', () => {
  const blocksFor = (content: readonly JsonObject[]): readonly JsonObject[] => {
    const path = '/v1/messages'
    const messages = [
      { role: 'user', content: 'Tides?' },
      { role: 'assistant', content },
      { role: 'user', content: 'And later?' },
    ]
    const body = { model: 'a-model', max_tokens: 9, messages }
    const request = READERS['messages']!.request!({ path, query: {}, headers: {}, body })
    const { wire } = WRITERS['messages']!.request!(request, NATIVE)
    return ((wire.body['messages'] as readonly JsonObject[])[1]!['content'] as readonly JsonObject[]).slice()
  }
  const call = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'tides' } }
  const found = (encrypted_content: string) => ({
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [
      { type: 'web_search_result', url: 'https://tides.example/', title: 'Tides', encrypted_content, page_age: null },
    ],
  })
  const text = { type: 'text', text: 'High water is at noon.' }

  it('its own as they were', () => {
    const content = [call, found('Eo8B'), text]
    expect(blocksFor(content)).toEqual(content)
  })

  it('those of another upstream in words', () => {
    expect(blocksFor([call, found(''), text])).toEqual([
      { type: 'text', text: 'Searched the web for: tides' },
      { type: 'text', text: 'Found these pages:\n- Tides: https://tides.example/' },
      text,
    ])
  })

  it.each(['search-call', 'both'])('those of Responses in words, which may name no pages (%s)', given => {
    const parts: readonly Part[] = [
      { type: 'search-call', id: 'ws_1', queries: ['tides'] },
      { type: 'search-result', id: 'ws_1', sources: [] },
      { type: 'text', text: 'High water is at noon.' },
    ]
    const content = given === 'both' ? parts : parts.filter(({ type }) => type !== 'search-result')
    const answer = {
      id: 'it',
      model: 'm',
      createdAt: 1,
      candidates: [{ content, finish: { reason: 'stop' as const } }],
    }
    const blocks = WRITERS['messages']!.result!(answer, asked).wire.body['content'] as readonly JsonObject[]
    expect(blocks[0]!['type']).toBe('server_tool_use')
    expect(blocksFor(blocks).map(({ type, text }) => [type, text])).toEqual([
      ['text', 'Searched the web for: tides'],
      ...(given === 'both' ? [['text', 'Found no pages.']] : []),
      ['text', 'High water is at noon.'],
    ])
  })
})

describe('searches: one round trip through any two formats keeps every page', () => {
  it.each(pairs.filter(([, to]) => to !== 'chat'))('%s → %s and back', (from, to) => {
    holds(searched, given => {
      const first = answerOf(from, given)
      const back = answerOf(from, answerOf(to, first))
      for (const url of urlsIn(first)) expect(urlsIn(back)).toContain(url)
    })
  })
})

/** Searches of one answer, all of which begin before the first of them has found its pages. */
const parallel: fc.Arbitrary<readonly Part[]> = fc
  .tuple(fc.array(searchPair, { minLength: 1, maxLength: 3 }), annotated)
  .map(([pairs, text]) => {
    const [calls, results] = [0, 1].map(at => pairs.map((pair, index) => ({ ...pair[at]!, id: `ws_${index}` }) as Part))
    return [...calls!, ...results!, text]
  })

describe('searches: in an answer of Responses, each item has an id of its own', () => {
  it('also where the searches ran at the same time', () => {
    holds(parallel, content => {
      const result: CanonicalResult = { id: 'it', model: 'm', createdAt: 1, candidates: [{ content }] }
      const { wire } = WRITERS['responses']!.result!(result, asked)
      const stream = drain(WRITERS['responses']!.events!(asked), unfold(result))
      const last = JSON.parse(stream.findLast(({ event }) => event === 'response.completed')!.data) as JsonObject
      for (const { output } of [wire.body, last['response'] as JsonObject]) {
        const ids = (output as readonly JsonObject[]).map(({ id }) => id)
        expect(new Set(ids).size).toBe(ids.length)
      }
      const read = contentOf(READERS['responses']!.result!(JSON.parse(JSON.stringify(wire)), asked))
      expect(read.filter(({ type }) => type !== 'text').map(idOf)).toEqual(content.slice(0, -1).map(idOf))
    })
  })
})

const idOf = (part: Part): string => `${part.type} ${(part as SearchResultPart).id}`

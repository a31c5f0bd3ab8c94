import { describe, expect, test } from 'vitest'
import { lose } from '../../src/canonical/loss.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { PRESETS } from '../../src/formats/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { meaning } from '../laws/same.ts'
import { holds, plain, same } from '../laws/support.ts'
import { WIRES } from '../laws/wires.ts'
import { asked, PURPOSES, request } from '../laws/work/embedding.ts'

const dialectOf = (vendor: string): JsonObject =>
  PRESETS.get(vendor)!.formats.find(({ format }) => format === 'embeddings')!.dialect ?? {}

const read = (body: JsonObject) =>
  READERS['embeddings']!.request!({ path: '/embeddings', query: {}, headers: {}, body })
const write = (
  asked: Parameters<NonNullable<(typeof WRITERS)[string]['request']>>[0],
  vendor: string,
  native: boolean,
) => WRITERS['embeddings']!.request!(asked, { dialect: dialectOf(vendor), native })

/** Returns the part of an embeddings caller's body that a vendor receives. */
const sent = (vendor: string, body: JsonObject): JsonObject =>
  write(read({ model: 'm', input: ['a'], ...body }), vendor, true).wire.body

describe.each(['openai', 'voyage', 'jina', 'mistral', 'google'])('%s', vendor => {
  test('what is written is read back as the request minus what was reported lost', () => {
    holds(request, asked => {
      const { wire, losses } = write(asked, vendor, false)
      same(meaning(READERS['embeddings']!.request!(plain(wire))), meaning(lose(asked, losses)))
    })
  })

  test('so it is for callers of the same format, whose fields may have other names', () => {
    holds(WIRES['embeddings']!.request, wire => {
      // Of two fields with the same meaning, the first is used. A vendor without that field then gets the second.
      if (wire.body['encoding_format'] != null && wire.body['embedding_type'] != null) return
      const asked = READERS['embeddings']!.request!(wire)
      const { wire: written, losses } = write(asked, vendor, true)
      same(meaning(READERS['embeddings']!.request!(plain(written))), meaning(lose(asked, losses)))
    })
  })
})

describe('a caller in OpenAI’s words', () => {
  const body = { dimensions: 256, encoding_format: 'base64', user: 'u' }

  test('is understood by Voyage', () => {
    expect(sent('voyage', body)).toEqual({
      model: 'm',
      input: ['a'],
      output_dimension: 256,
      encoding_format: 'base64',
    })
    expect(sent('voyage', { encoding_format: 'float' })).toEqual({ model: 'm', input: ['a'] })
  })

  test('is understood by Jina', () => {
    expect(sent('jina', body)).toEqual({ model: 'm', input: ['a'], dimensions: 256, embedding_type: 'base64' })
  })

  test('is passed on to those who know them', () => {
    expect(sent('openai', body)).toEqual({ model: 'm', input: ['a'], ...body })
    expect(sent('vllm', body)).toEqual({ model: 'm', input: ['a'], ...body })
  })
})

describe('what the vectors are for', () => {
  test('is told between Voyage and Jina', () => {
    expect(sent('jina', { input_type: 'query' })).toMatchObject({ task: 'retrieval.query' })
    expect(sent('jina', { input_type: 'document' })).toMatchObject({ task: 'retrieval.passage' })
    expect(sent('voyage', { task: 'retrieval.passage' })).toMatchObject({ input_type: 'document' })
    for (const task of ['code.passage', 'qa.passage', 'code2code.passage'])
      expect(sent('voyage', { task })).toMatchObject({ input_type: 'document' })
  })

  test('keeps its very word where the field is known', () => {
    expect(sent('jina', { task: 'nl2code.passage' })).toMatchObject({ task: 'nl2code.passage' })
    expect(sent('jina', { task: 'code2code.query' })).toMatchObject({ task: 'code2code.query' })
    expect(sent('openai', { input_type: 'passage' })).toMatchObject({ input_type: 'passage' })
  })

  const told = (vendor: string, model: string) =>
    PURPOSES.map(purpose => {
      const output = { modalities: ['embedding'], embedding: { purpose } } as const
      const { input_type, task } = write({ ...asked, model, output }, vendor, false).wire.body
      return input_type ?? task
    })

  test.each([
    ['voyage', 'voyage-3.5', ['query', 'document', undefined, undefined, undefined, 'query', 'query', 'query']],
    [
      'jina',
      'jina-embeddings-v5-text-small',
      [
        ...['retrieval.query', 'retrieval.passage', 'text-matching', 'classification', 'clustering'],
        ...['retrieval.query', 'retrieval.query', 'retrieval.query'],
      ],
    ],
    [
      'jina',
      'jina-embeddings-v4',
      [
        ...['retrieval.query', 'retrieval.passage', 'text-matching', undefined, undefined],
        ...['retrieval.query', 'retrieval.query', 'code.query'],
      ],
    ],
    [
      'jina',
      'jina-embeddings-v3',
      [
        ...['retrieval.query', 'retrieval.passage', 'text-matching', 'classification', 'separation'],
        ...['retrieval.query', 'retrieval.query', 'retrieval.query'],
      ],
    ],
    ['jina', 'jina-embeddings-v2-base-code', PURPOSES.map(() => undefined)],
    [
      'jina',
      'jina-code-embeddings-1.5b',
      ['nl2code.query', 'nl2code.passage', undefined, undefined, undefined, 'qa.query', undefined, 'nl2code.query'],
    ],
  ])('is said to %s as its model %s knows it', (vendor, model, words) => {
    expect(told(vendor, model)).toEqual(words)
  })
})

describe('pictures', () => {
  const contents = (part: JsonObject) =>
    READERS['contents']!.request!({
      path: '/v1beta/models/m:embedContent',
      query: {},
      headers: {},
      body: { content: { parts: [part] } },
    })

  test('go to those who take them, by address or as bare base64', () => {
    const png = 'iVBORw0KGgoAAAANSUhEUg=='
    const inline = contents({ inlineData: { mimeType: 'image/png', data: png } })
    expect(write(inline, 'jina', false).wire.body['input']).toEqual([{ image: png }])
    const linked = contents({ fileData: { mimeType: 'image/png', fileUri: 'https://example.com/a.png' } })
    expect(write(linked, 'jina', false).wire.body['input']).toEqual([{ image: 'https://example.com/a.png' }])
    expect(write(linked, 'openai', false).losses).toContainEqual(
      expect.objectContaining({ kind: 'dropped', path: ['messages', 0, 'content', 0] }),
    )
  })
})

describe('what Voyage counts', () => {
  const usage = { total_tokens: 7 }
  const told = (format: string, body: JsonObject) => {
    const asked = { model: 'm', messages: [], output: {}, sampling: {}, stream: false }
    const read = READERS[format]!.result!({ status: 200, headers: {}, body }, asked)
    return WRITERS[format]!.result!(read, asked).wire.body['usage']
  }

  test('is told to OpenAI’s clients in their word, too', () => {
    expect(told('embeddings', { object: 'list', data: [], model: 'm', usage })).toEqual({ ...usage, prompt_tokens: 7 })
    expect(told('embeddings', { object: 'list', data: [], model: 'm', usage: { prompt_tokens: 7 } })).toEqual({
      ...usage,
      prompt_tokens: 7,
    })
  })

  test('gets rankings unchanged, and other formats’ counts under its own name', () => {
    expect(told('rerank', { object: 'list', data: [], model: 'm', usage })).toEqual(usage)
    const jina = { object: 'list', results: [], model: 'm', usage: { prompt_tokens: 7 } }
    expect(told('rerank', jina)).toEqual({ ...usage, prompt_tokens: 7 })
  })
})

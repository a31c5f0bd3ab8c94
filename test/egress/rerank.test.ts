import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { PRESETS } from '../../src/formats/index.ts'
import { READERS } from '../../src/ingress/index.ts'

/* The number of ranks has the field that the vendor knows, also for callers of the same format. */

const BODY = { model: 'm', query: 'q', documents: ['a', 'b'], return_documents: false }

const sent = (vendor: string, body: JsonObject): JsonObject => {
  const request = READERS['rerank']!.request!({ path: '/rerank', query: {}, headers: {}, body: { ...BODY, ...body } })
  const { dialect = {} } = PRESETS.get(vendor)!.formats.find(({ format }) => format === 'rerank')!
  return WRITERS['rerank']!.request!(request, { dialect, native: true }).wire.body
}

test.each([
  ['jina', { top_k: 1 }, { top_n: 1 }],
  ['jina', { top_n: 1, max_doc_length: 9 }, { top_n: 1, max_doc_length: 9 }],
  ['voyage', { top_n: 1 }, { top_k: 1 }],
  ['voyage', { top_k: 1 }, { top_k: 1 }],
  ['voyage', { top_n: 10 }, { top_k: 2 }],
  ['voyage', { top_k: 10, truncation: false }, { top_k: 2, truncation: false }],
  ['jina', { top_n: 10 }, { top_n: 2 }],
  ['together', { top_k: 1 }, { top_n: 1 }],
  ['vllm', { top_k: 1 }, { top_n: 1 }],
])('%s is sent, of %j, %j', (vendor, given, written) => {
  expect(sent(vendor, given)).toEqual({ ...BODY, ...written })
})

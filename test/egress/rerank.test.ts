import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'

/* The number of ranks has the field that the upstream knows, also for callers of the same format. */

const BODY = { model: 'm', query: 'q', documents: ['a', 'b'], return_documents: false }

const sent = (body: JsonObject, dialect: JsonObject): JsonObject => {
  const request = READERS['rerank']!.request!({ path: '/rerank', query: {}, headers: {}, body: { ...BODY, ...body } })
  return WRITERS['rerank']!.request!(request, { dialect, native: true }).wire.body
}

test.each([
  [{}, { top_k: 1 }, { top_n: 1 }],
  [{ top_field: 'top_n' }, { top_k: 1 }, { top_n: 1 }],
  [{ top_field: 'top_k' }, { top_n: 1 }, { top_k: 1 }],
  [{}, { top_n: 1, max_doc_length: 9 }, { top_n: 1, max_doc_length: 9 }],
  [{ top_field: 'top_k' }, { top_k: 1 }, { top_k: 1 }],
])('with the flags %j, %j is sent as %j', (dialect, given, written) => {
  expect(sent(given, dialect)).toEqual({ ...BODY, ...written })
})

import { expect, test } from 'vitest'
import { WRITERS } from '../../src/egress/index.ts'
import { PRESETS } from '../../src/formats/index.ts'
import { READERS } from '../../src/ingress/index.ts'

/* Fields and values that vendors of embeddings refuse with 400. */

const sent = (vendor: string, fields: object) => {
  const body = { model: 'm', input: ['a'], ...fields }
  const request = READERS['embeddings']!.request!({ path: '/embeddings', query: {}, headers: {}, body })
  const { dialect = {} } = PRESETS.get(vendor)!.formats.find(({ format }) => format === 'embeddings')!
  const { wire, losses } = WRITERS['embeddings']!.request!(request, { dialect, native: true })
  return { body: wire.body, losses: losses.map(({ path }) => path.join('/')) }
}

/* "Unrecognized request arguments supplied: user" (ogx-ai/ogx#3559). */
test('Together gets no user, and the loss is reported', () => {
  expect(sent('together', { user: 'u-1', encoding_format: 'base64' })).toEqual({
    body: { model: 'm', input: ['a'], encoding_format: 'base64' },
    losses: ['endUser'],
  })
})

test.each([
  ['search_query', 'query', []],
  ['passage', 'document', []],
  ['query', 'query', []],
  ['classification', undefined, ['output/embedding/purpose']],
])('Voyage gets, of the purpose %s of another vendor, %s', (input_type, written, losses) => {
  const field = written === undefined ? {} : { input_type: written }
  expect(sent('voyage', { input_type })).toEqual({ body: { model: 'm', input: ['a'], ...field }, losses })
})

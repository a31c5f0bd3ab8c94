import { expect, test } from 'vitest'
import { WRITERS } from '../../src/egress/index.ts'
import { PRESETS } from '../../src/formats/index.ts'
import { READERS } from '../../src/ingress/index.ts'

/* Together refuses `user` with 400: "Unrecognized request arguments supplied: user" (ogx-ai/ogx#3559). */

test('Together gets no user, and the loss is reported', () => {
  const body = { model: 'm', input: ['a'], user: 'u-1', encoding_format: 'base64' }
  const request = READERS['embeddings']!.request!({ path: '/embeddings', query: {}, headers: {}, body })
  const { dialect = {} } = PRESETS.get('together')!.formats.find(({ format }) => format === 'embeddings')!
  const { wire, losses } = WRITERS['embeddings']!.request!(request, { dialect, native: true })
  expect(wire.body).toEqual({ model: 'm', input: ['a'], encoding_format: 'base64' })
  expect(losses.map(({ path }) => path.join('/'))).toEqual(['endUser'])
})

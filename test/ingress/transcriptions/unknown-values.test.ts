import { expect, test } from 'vitest'
import { BufferedBytes } from '../../../src/canonical/bytes.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { READERS } from '../../../src/ingress/index.ts'

/* Unknown values of a list go to upstreams of the same format and are losses for all others. */

test.each([
  ['timestamp_granularities[]', 'segment', 'character'],
  ['include[]', 'logprobs', 'pitch'],
])('%s of %s and %s', (field, known, strange) => {
  const files = [
    { field: 'file', name: 'a.mp3', mediaType: 'audio/mpeg', bytes: new BufferedBytes(Buffer.from('ID3')) },
  ]
  const body = { model: 'm', [field]: [known, strange] }
  const request = READERS['transcriptions']!.request!({
    path: '/audio/transcriptions',
    query: {},
    headers: {},
    body,
    files,
  })
  const native = WRITERS['transcriptions']!.request!(request, { dialect: {}, native: true })
  expect(native).toMatchObject({ wire: { body }, losses: [] })
  const { losses } = WRITERS['elevenlabs']!.request!(request, { dialect: {}, native: false })
  expect(losses).toContainEqual(expect.objectContaining({ path: ['extras', 'transcriptions', field], kind: 'dropped' }))
})

import { expect, test } from 'vitest'
import { BufferedBytes } from '../../../src/canonical/bytes.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { deepgram } from '../../../src/egress/deepgram/index.ts'

const request = (model: string): CanonicalRequest => ({
  model,
  messages: [
    {
      role: 'user',
      content: [
        {
          type: 'media',
          kind: 'audio',
          source: { type: 'bytes', mediaType: 'audio/wav', bytes: new BufferedBytes(Buffer.from('RIFF')) },
        },
      ],
    },
  ],
  output: { transcript: { task: 'transcribe', keywords: ['kettle'] } },
  sampling: {},
  stream: false,
})

test.each([
  ...['nova-3', 'nova-3-general', 'nova-3-medical', 'nova-4', 'flux-general-en'].map(model => [model, 'keyterm']),
  ...['nova-2', 'nova-2-general', 'nova', 'nova-phonecall', 'enhanced', 'base-general', 'whisper-large'].map(model => [
    model,
    'keywords',
  ]),
])('%s expects words in the field %s', (model, field) => {
  const { query } = deepgram.request!(request(model!), { dialect: {}, native: false } as never).wire
  expect(query[field!]).toEqual(['kettle'])
  expect(Object.keys(query).filter(name => name.startsWith('key'))).toEqual([field])
})

import { expect, test } from 'vitest'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { WRITERS } from '../../../src/egress/index.ts'

const asks = (language: string): CanonicalRequest => ({
  model: 'm',
  messages: [
    {
      role: 'user',
      content: [{ type: 'media', kind: 'audio', source: { type: 'base64', mediaType: 'audio/wav', data: 'AAAA' } }],
    },
  ],
  output: { transcript: { task: 'transcribe', language } },
  sampling: {},
  stream: false,
})

/* Languages as callers of voice sessions write them; OpenAI and vLLM refuse all but the code (AionUi#1939). */
/* Deepgram takes regions and `multi`, but neither names nor `auto`. */
test.each([
  ['en-US', 'en-US', undefined],
  ['multi', 'multi', undefined],
  ['zh_TW', 'zh', undefined],
  ['German', 'de', undefined],
  ['auto', undefined, 'true'],
] as const)('%s is %s at Deepgram', (language, code, detected) => {
  const { query } = WRITERS['deepgram']!.request!(asks(language), { dialect: {}, native: false }).wire
  expect([query['language'], query['detect_language']]).toEqual([code, detected])
})

test.each([
  ['en-US', 'en', ['language-code']],
  ['zh_TW', 'zh', ['language-code']],
  ['German', 'de', ['language-code']],
  ['auto', undefined, ['language-detected']],
  ['yue', 'yue', []],
  ['de', 'de', []],
] as const)('%s is %s', (language, code, reasons) => {
  for (const [format, field] of [
    ['transcriptions', 'language'],
    ['elevenlabs', 'language_code'],
  ] as const) {
    const { wire, losses } = WRITERS[format]!.request!(asks(language), { dialect: {}, native: false })
    expect(wire.body[field]).toBe(code)
    expect(losses.filter(({ path }) => path.includes('language')).map(({ reason }) => reason)).toEqual(reasons)
  }
})

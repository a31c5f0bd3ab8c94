import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { READERS } from '../../src/ingress/index.ts'

/* Counts of answers with images under other names: those of chat completions (BerriAI/litellm#34908, read on
   2026-12-01), and those of Volcengine Ark, which counts no prompt. */

const usageOf = (usage: JsonObject) => {
  const request = READERS['images']!.request!({
    ...{ path: '/v1/images/generations', query: {}, headers: {} },
    body: { model: 'm', prompt: 'a' },
  })
  const body = { created: 0, data: [{ b64_json: 'AAAA' }], usage }
  const { spelling: _, ...read } = READERS['images']!.result!({ status: 200, headers: {}, body }, request).usage!
  return JSON.parse(JSON.stringify(read))
}

const CHAT = {
  ...{ prompt_tokens: 10, completion_tokens: 4175, total_tokens: 4185 },
  completion_tokens_details: { image_tokens: 4175 },
}

test.each([
  ['chat completions', CHAT, { input: 10, output: 4175, outputBy: { image: 4175 } }],
  ['both, of which one is zero', { ...CHAT, input_tokens: 0, output_tokens: 0 }, { input: 10, output: 4175 }],
  ['images', { ...CHAT, input_tokens: 3, output_tokens: 4, total_tokens: 7 }, { input: 3, output: 4 }],
  ['Ark', { generated_images: 1, output_tokens: 4096, total_tokens: 4096 }, { output: 4096 }],
  ['a total alone', { total_tokens: 9 }, { input: 9 }],
])('counts of %s', (_, wire, usage) => expect(usageOf(wire)).toMatchObject(usage))

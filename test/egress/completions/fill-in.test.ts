import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { PRESETS } from '../../../src/formats/presets.ts'
import { READERS } from '../../../src/ingress/index.ts'

/* Requests of editors for the text at a cursor, as their programs send them to any server. */

function sent(preset: string, body: JsonObject, native = true) {
  const { dialect = {} } = PRESETS.get(preset)!.formats.find(({ format }) => format === 'completions')!
  const wire = { path: '/completions', query: {}, headers: {}, body }
  const written = WRITERS['completions']!.request!(READERS['completions']!.request!(wire), { dialect, native })
  return { ...written, body: written.wire.body }
}

const cursor = { prompt: 'def add(a, b):\n    ', suffix: '\n\nadd(1, 2)', max_tokens: 64, temperature: 0, min_p: 0.1 }
const { suffix: _, ...settings } = cursor

describe('text behind the cursor, at a server that takes no suffix', () => {
  test.each([
    ['Qwen/Qwen2.5-Coder-7B', '<|fim_prefix|>def add(a, b):\n    <|fim_suffix|>\n\nadd(1, 2)<|fim_middle|>'],
    ['deepseek-ai/DeepSeek-V4-Flash', '<｜fim▁begin｜>def add(a, b):\n    <｜fim▁hole｜>\n\nadd(1, 2)<｜fim▁end｜>'],
    ['mistralai/Codestral-22B-v0.1', '[SUFFIX]\n\nadd(1, 2)[PREFIX]def add(a, b):\n    '],
    ['bigcode/starcoder2-7b', '<fim_prefix>def add(a, b):\n    <fim_suffix>\n\nadd(1, 2)<fim_middle>'],
  ])('is in the prompt of %s', (model, prompt) => {
    for (const preset of ['vllm', 'llama-cpp'])
      for (const native of [true, false]) {
        const { body, losses } = sent(preset, { model, ...cursor }, native)
        expect(body).toEqual({ model, ...settings, prompt })
        expect(losses.every(({ restored }) => restored)).toBe(true)
      }
  })

  test('is reported as lost for a model whose tokens are not known, and for tokens', () => {
    for (const prompt of [cursor.prompt, [1, 2]] as const) {
      const model = prompt === cursor.prompt ? 'meta-llama/Llama-3.1-8B' : 'Qwen/Qwen2.5-Coder-7B'
      const { body, losses } = sent('vllm', { model, ...cursor, prompt })
      expect(body).toEqual({ model, ...settings, prompt })
      expect(losses).toMatchObject([{ path: ['output', 'completion', 'suffix'], reason: 'no-suffix' }])
    }
  })

  test('is no loss if it is empty, as at the end of a file', () => {
    const { body, losses } = sent('vllm', { model: 'm', prompt: 'a', suffix: '' })
    expect(body).toEqual({ model: 'm', prompt: 'a' })
    expect(losses.every(({ restored }) => restored)).toBe(true)
  })

  test('is passed on to a server that takes it, and so is a request without', () => {
    const body = { model: 'qwen2.5-coder:7b', ...cursor }
    expect(sent('ollama', body).body).toEqual(body)
    const plain = { model: 'm', prompt: ['a', 'b'], best_of: 2 }
    expect(sent('vllm', plain).body).toBe(plain)
  })
})

test('a list of one text reaches servers of one prompt as this text', () => {
  for (const preset of ['ollama', 'together']) {
    expect(sent(preset, { model: 'm', prompt: ['a'], min_p: 0.1 }).body).toEqual({
      model: 'm',
      prompt: 'a',
      min_p: 0.1,
    })
    const tokens = { model: 'm', prompt: [1, 2] }
    expect(sent(preset, tokens).body).toBe(tokens)
  }
  const list = { model: 'm', prompt: ['a'] }
  expect(sent('vllm', list).body).toBe(list)
})

import { expect, it } from 'vitest'
import { takesTextOnly } from '../../src/formats/text-only-models.ts'

it.each([
  ...['glm-4.5', 'glm-4.5-air', 'glm-4.6', 'zai-org/GLM-4.7', 'glm-4.7-flash', 'glm-5', 'glm-5-turbo', 'glm-5.1'],
  ...['GLM-5.2[1m]', 'glm-5.2-highspeed', 'accounts/fireworks/models/glm-5p2', 'MiniMax-M2', 'MiniMax-M2.7-highspeed'],
  ...[
    'kimi-k2-thinking',
    'moonshotai/Kimi-K2-Instruct-0905',
    'kimi-k2',
    'qwen3-coder-plus',
    'qwen3.7-max',
    'qwen3-max',
  ],
  ...['mimo-v2.5-pro', 'mimo-v2-flash', 'step-3.5-flash-2603', 'deepseek-v4-pro'],
])('%s takes text only', model => {
  expect(takesTextOnly('messages', model)).toBe(true)
  expect(takesTextOnly('chat', model)).toBe(true)
})

it.each([
  ...['glm-4.5v', 'glm-4.6v-flash', 'glm-5v-turbo', 'glm-5.3', 'glm-5.3-flash', 'glm-5-3-flash', 'glm-5p3', 'glm-4v'],
  ...['MiniMax-M3', 'kimi-k2.5', 'kimi-k2.7-code', 'kimi-k3', 'qwen3.8-max', 'qwen3-vl-plus', 'qwen3.5-plus'],
  ...['mimo-v2.5', 'mimo-v2.6-pro', 'step-3.7-flash', 'deepseek-flash', 'gpt-5.2', 'claude-opus-5'],
])('%s takes images', model => {
  expect(takesTextOnly('messages', model)).toBe(false)
})

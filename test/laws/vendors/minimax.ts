import { hi, type Loose, noOddArguments, type StrictVendor } from './vendor.ts'

const messages = hi['messages'] as Loose[]
const isSystem = ({ role }: Loose): boolean => role === 'system' || role === 'developer'

export const minimaxChat: StrictVendor = {
  preset: 'minimax',
  format: 'chat',
  models: ['MiniMax-M2', 'MiniMax-M2.5', 'MiniMax-M3'],
  refusals: [
    {
      error: 'invalid chat setting: one system message, at the start',
      source: 'MiniMax-AI/MiniMax-M2#51, openclaw#19386, read on 2026-12-01',
      refuses: body => body.messages.slice(1).some(isSystem),
      example: {
        messages: [{ role: 'system', content: 'a' }, ...messages, { role: 'system', content: 'b' }, ...messages],
      },
      native: true,
    },
    {
      error: 'temperature is above 0 and up to 1; values outside this range return an error',
      source: 'CAMEL MinimaxConfig (docs.camel-ai.org), LobeChat model-runtime minimax, read on 2026-12-01',
      refuses: ({ temperature }) => temperature !== undefined && (temperature <= 0 || temperature > 1),
      example: { ...hi, temperature: 0 },
      native: true,
    },
    noOddArguments(
      'invalid function arguments json string',
      'earendil-works/pi#5468, HKUDS/nanobot#2373, can1357/oh-my-pi#181, read on 2026-12-01',
    ),
    {
      error: 'function parameters is empty',
      source: 'QwenLM/qwen-code#11834, read on 2026-12-01',
      refuses: body =>
        (body.tools ?? []).some((tool: Loose) => tool.function && tool.function.parameters === undefined),
      example: { ...hi, tools: [{ type: 'function', function: { name: 'now' } }] },
    },
  ],
}

export const minimaxMessages: StrictVendor = {
  preset: 'minimax',
  format: 'messages',
  models: ['MiniMax-M2.7', 'MiniMax-M3'],
  refusals: [
    {
      error: 'thinking has the types adaptive and disabled; a budget puts the reasoning into the text',
      source: 'platform.minimax.io/docs, "Anthropic API"; pi#6658, oh-my-pi#2928, read on 2026-12-01',
      refuses: body => body.thinking?.type === 'enabled',
      example: { ...hi, max_tokens: 9000, thinking: { type: 'enabled', budget_tokens: 2000 } },
    },
  ],
}

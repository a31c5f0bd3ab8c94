import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { Effort, Reasoning } from '../../../src/canonical/request.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { shownLosses } from '../../../src/egress/losses.ts'
import { familyDialect } from '../../../src/formats/index.ts'
import { PRESETS } from '../../../src/formats/presets.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { user } from '../../builders/messages.ts'
import { REQUEST, wireRequest } from '../../builders/requests.ts'

const dialectOf = (preset: string, model = 'm'): JsonObject => ({
  ...familyDialect('chat', model),
  ...PRESETS.get(preset)!.formats.find(({ format }) => format === 'chat')!.dialect,
})

const NAMES = [
  'reasoning_effort',
  'reasoning',
  'thinking',
  'enable_thinking',
  'thinking_budget',
  'chat_template_kwargs',
]

const switchesIn = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name]) => [...NAMES, 'reasoning_split'].includes(name)))

/** The switches in the body for an upstream, and the reasons of the losses that the caller is shown. */
function sent(reasoning: Reasoning, dialect: JsonObject) {
  const request = { ...REQUEST, reasoning, messages: [user({ type: 'text', text: 'Hi' })] }
  const { wire, losses } = WRITERS['chat']!.request!(request, { dialect, native: false })
  const lost = shownLosses(losses).filter(({ path }) => path[0] === 'reasoning')
  return { ...switchesIn(wire.body), lost: lost.map(({ reason }) => reason) }
}

const MAX_BUDGET: Reasoning = { budget: 32_000 }

describe('the switch of each vendor', () => {
  it.each([
    ['deepseek', { effort: 'medium' }, { thinking: { type: 'enabled' }, reasoning_effort: 'medium', lost: [] }],
    ['deepseek', { effort: 'none' }, { thinking: { type: 'disabled' }, lost: [] }],
    ['deepseek', MAX_BUDGET, { thinking: { type: 'enabled' }, reasoning_effort: 'max', lost: ['nearest-switch'] }],
    ['zai', { effort: 'high' }, { thinking: { type: 'enabled' }, lost: ['nearest-switch'] }],
    ['zai', { budget: 0 }, { thinking: { type: 'disabled' }, lost: [] }],
    ['dashscope', { budget: 4000 }, { enable_thinking: true, thinking_budget: 4000, lost: [] }],
    ['dashscope', { effort: 'low' }, { enable_thinking: true, thinking_budget: 2048, lost: ['said-as-budget'] }],
    ['dashscope', { effort: 'none' }, { enable_thinking: false, lost: [] }],
    ['dashscope', { budget: -1 }, { enable_thinking: true, lost: [] }],
    ['vllm', { effort: 'none' }, { chat_template_kwargs: { enable_thinking: false, thinking: false }, lost: [] }],
    ['vllm', { budget: -1 }, { chat_template_kwargs: { enable_thinking: true, thinking: true }, lost: [] }],
    ['minimax', { budget: -1 }, { thinking: { type: 'adaptive' }, reasoning_split: true, lost: [] }],
    ['openrouter', { budget: -1 }, { reasoning: { enabled: true }, lost: [] }],
    ['openrouter', { budget: 0 }, { reasoning: { effort: 'none' }, lost: [] }],
    ['openrouter', { effort: 'high', show: false }, { reasoning: { effort: 'high', exclude: true }, lost: [] }],
    ['groq', { effort: 'high' }, { reasoning_effort: 'high', lost: [] }],
  ] as const)('%s gets %o as %o', (preset, reasoning, body) => {
    expect(sent(reasoning, dialectOf(preset))).toEqual(body)
  })

  it('is not turned off where the model always thinks', () => {
    const kimi = (model: string) => sent({ effort: 'none' }, dialectOf('moonshot', model))
    expect(kimi('kimi-k2.6')).toEqual({ thinking: { type: 'disabled' }, lost: [] })
    const on = { thinking: { type: 'enabled' }, lost: ['nearest-switch'] }
    expect(kimi('kimi-k2.7-code')).toEqual(on)
    expect(kimi('kimi-k3')).toEqual({ ...on, reasoning_effort: 'low' })
    const glm = (model: string, effort: Effort) => sent({ effort }, dialectOf('zai', model))
    expect(glm('glm-5.1', 'none')).toEqual({ thinking: { type: 'disabled' }, lost: [] })
    expect(glm('glm-5.3', 'none')).toEqual({ ...on, reasoning_effort: 'low' })
    expect(glm('glm-5.3', 'medium')).toMatchObject({ reasoning_effort: 'low', lost: ['nearest-switch'] })
    expect(glm('glm-5.2', 'xhigh')).toMatchObject({ reasoning_effort: 'xhigh', lost: [] })
  })

  it('is left out, but for the split, if the caller says nothing about reasoning', () => {
    expect(sent({}, dialectOf('deepseek'))).toEqual({ lost: [] })
    const { wire } = WRITERS['chat']!.request!(REQUEST, { dialect: dialectOf('minimax'), native: false })
    expect(switchesIn(wire.body)).toEqual({ reasoning_split: true })
  })
})

const read = (fields: JsonObject) =>
  READERS['chat']!.request!(wireRequest('/v1/chat/completions', { ...HELLO, ...fields }))
const HELLO = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

describe("a caller's switch", () => {
  it.each([
    [{ thinking: { type: 'disabled' } }, { effort: 'none' }],
    [{ thinking: { type: 'enabled' } }, { budget: -1 }],
    [{ thinking: { type: 'enabled', budget_tokens: 2000 } }, { budget: 2000 }],
    [{ thinking: { type: 'enabled' }, reasoning_effort: 'max' }, { effort: 'max' }],
    [{ thinking: { type: 'enabled', effort: 'low' } }, { effort: 'low' }],
    [{ thinking: { type: 'adaptive', keep: 'all' } }, { budget: -1, extras: { chat: { keep: 'all' } } }],
    [{ reasoning: { enabled: false } }, { effort: 'none' }],
    [{ reasoning: { effort: 'high', enabled: true } }, { effort: 'high' }],
    [{ enable_thinking: true }, { budget: -1 }],
    [{ enable_thinking: false, thinking_budget: 100 }, { effort: 'none' }],
    [{ thinking_budget: 100 }, { budget: 100 }],
    [{ chat_template_kwargs: { thinking: true } }, { budget: -1 }],
    [{ chat_template_kwargs: { enable_thinking: false } }, { effort: 'none' }],
    [{ include_reasoning: false }, { show: false }],
    [
      { reasoning_effort: 'low', include_reasoning: true },
      { effort: 'low', show: true },
    ],
    [{ chat_template_kwargs: { lang: 'en' } }, undefined],
    [{ thinking: { type: 'new' } }, undefined],
  ] as const)('%o is read as %o', (fields, reasoning) => {
    expect(read(fields).reasoning).toEqual(reasoning)
  })

  it('that was not read stays a field of the request', () => {
    const both = { reasoning: { effort: 'low' }, enable_thinking: true }
    expect(read(both)).toMatchObject({ reasoning: { effort: 'low' }, extras: { chat: { enable_thinking: true } } })
    const mixed = { chat_template_kwargs: { enable_thinking: true, lang: 'en' } }
    expect(read(mixed)).toMatchObject({
      reasoning: { budget: -1 },
      extras: { chat: { chat_template_kwargs: { lang: 'en' } } },
    })
    expect(read({ thinking: { type: 'new' } }).extras).toEqual({ chat: { thinking: { type: 'new' } } })
    const inside = { thinking: { type: 'enabled', effort: 'low' } }
    expect(read({ ...inside, reasoning_effort: 'high' })).toMatchObject({
      reasoning: { effort: 'low' },
      extras: { chat: { reasoning_effort: 'high' } },
    })
    expect(read({ ...inside, reasoning_effort: 'low' }).extras).toBeUndefined()
  })
})

describe('the switch of a native caller', () => {
  const passed = (fields: JsonObject, dialect: JsonObject) => {
    const { wire } = WRITERS['chat']!.request!(read({ ...fields, x_more: 1 }), { dialect, native: true })
    expect(wire.body['x_more']).toBe(1)
    return switchesIn(wire.body)
  }

  it.each([
    ['deepseek', { thinking: { type: 'enabled', x: 1 }, reasoning_effort: 'high' }],
    ['together', { thinking: { type: 'enabled' } }],
    ['openai', { reasoning_effort: 'low' }],
    ['dashscope', { enable_thinking: true, thinking: { type: 'enabled' } }],
    ['vllm', { chat_template_kwargs: { thinking: true, lang: 'en' } }],
  ] as const)('that %s takes, or an upstream of no declared switch, passes unchanged', (preset, fields) => {
    expect(passed(fields, dialectOf(preset))).toEqual(fields)
  })

  it.each([
    ['openai', { thinking: { type: 'enabled' } }, {}],
    ['openai', { reasoning: { effort: 'high' } }, { reasoning_effort: 'high' }],
    ['deepseek', { enable_thinking: false }, { thinking: { type: 'disabled' } }],
    ['deepseek', { reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }],
    ['dashscope', { reasoning_effort: 'low' }, { enable_thinking: true, thinking_budget: 2048 }],
    ['vllm', { thinking: { type: 'disabled' } }, { chat_template_kwargs: { enable_thinking: false, thinking: false } }],
  ] as const)('of another vendor is translated for %s', (preset, fields, body) => {
    expect(passed(fields, dialectOf(preset))).toEqual(body)
  })
})

it.each([
  ['DeepSeek', 'prompt_cache_hit_tokens'],
  ['Kimi', 'cached_tokens'],
  ['Mistral [rec]', 'num_cached_tokens'],
  ['Databricks', 'cache_read_input_tokens'],
])('cached tokens of %s count as cached', (_, field) => {
  const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, [field]: 8 }
  const body = { id: '1', object: 'chat.completion', model: 'm', choices: [], usage }
  expect(READERS['chat']!.result!({ status: 200, headers: {}, body }, REQUEST).usage).toEqual({
    input: 10,
    output: 2,
    cacheRead: 8,
  })
})

it.each([
  ['Model Studio', { prompt_tokens_details: { cache_creation_input_tokens: 8, cached_tokens: 0 } }, { cacheRead: 0 }],
  ['LiteLLM', { prompt_tokens_details: { cache_creation_tokens: 8 } }, {}],
  ['LiteLLM', { cache_creation_input_tokens: 8 }, {}],
  ['new-api', { prompt_tokens_details: { cached_creation_tokens: 8 } }, {}],
])('tokens that %s states as written to a cache count so: %j', (_, fields, more) => {
  const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, ...fields }
  const body = { id: '1', object: 'chat.completion', model: 'm', choices: [], usage }
  expect(READERS['chat']!.result!({ status: 200, headers: {}, body }, REQUEST).usage).toEqual({
    ...{ input: 10, output: 2, cacheWrite: 8, ...more },
  })
})

import type { JsonObject } from '../../src/canonical/node.ts'

/*
 * Hand-written checks of the requests that Anthropic's models accept, as strict as the real API. They use no code of
 * the gateway.
 */

interface Takes {
  readonly thinking: readonly string[]
  readonly efforts: string
  readonly forced: boolean
  readonly prefill: boolean
  readonly output: number
  readonly dice: 'both' | 'one' | 'none'
  readonly systems?: true
}

const NEW = { efforts: 'low medium high xhigh max', prefill: false, output: 128_000, dice: 'none' } as const
const ALWAYS = { ...NEW, thinking: ['adaptive'], forced: false, systems: true } as const
const BUDGET = { thinking: ['enabled', 'disabled'], efforts: '', forced: true, prefill: true } as const
const EITHER: Takes = {
  ...{ thinking: ['enabled', 'adaptive', 'disabled'], efforts: 'low medium high max', forced: true, prefill: false },
  ...{ output: 128_000, dice: 'one' },
}
const ADAPTIVE = { ...NEW, thinking: ['adaptive', 'disabled'], forced: true } as const

export const MODELS: { readonly [model: string]: Takes } = {
  'claude-2.1': { ...BUDGET, thinking: [], output: 4096, dice: 'both' },
  'claude-3-haiku-20240307': { ...BUDGET, thinking: [], output: 4096, dice: 'both' },
  'claude-3-5-haiku-latest': { ...BUDGET, thinking: [], output: 8192, dice: 'both' },
  'claude-3-7-sonnet-20250219': { ...BUDGET, output: 64_000, dice: 'both' },
  'claude-sonnet-4-20250514': { ...BUDGET, output: 64_000, dice: 'both' },
  'claude-opus-4-20250514': { ...BUDGET, output: 32_000, dice: 'both' },
  'claude-opus-4-1-20250805': { ...BUDGET, output: 32_000, dice: 'one' },
  'anthropic/claude-sonnet-4.5': { ...BUDGET, output: 64_000, dice: 'one' },
  'claude-haiku-4-5-20251001': { ...BUDGET, output: 64_000, dice: 'one' },
  'claude-opus-4-5@20251101': { ...BUDGET, efforts: 'low medium high', output: 64_000, dice: 'one' },
  'us.anthropic.claude-opus-4-6-v1:0': EITHER,
  'claude-sonnet-4-6': EITHER,
  'claude-opus-4-7': ADAPTIVE,
  'claude-opus-4.8': { ...ADAPTIVE, systems: true },
  'claude-opus-4-8@20260101': { ...ADAPTIVE, systems: true },
  'claude-sonnet-5': ADAPTIVE,
  'claude-opus-5': { ...ADAPTIVE, systems: true },
  'claude-haiku-5-5': { ...ADAPTIVE, systems: true },
  'claude-mythos-preview': { ...NEW, thinking: ['enabled', 'adaptive'], forced: false },
  'claude-fable-5': { ...ALWAYS, forced: true },
  'claude-mythos-5': { ...ALWAYS, forced: true },
  'claude-fable-5-1': ALWAYS,
  'anthropic.claude-fable-5-2': ALWAYS,
  'claude-opus-5-5': ALWAYS,
  'databricks-claude-opus-5-5[1m]': ALWAYS,
  'claude-opus-6': ALWAYS,
  'claude-sonnet-5-5': { ...ALWAYS, thinking: ['adaptive', 'between_tools'] },
}

// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
type Loose = { readonly [field: string]: any }

/** Returns the reasons why the model refuses the request. An empty list if it accepts it. */
export function refusals(model: string, body: JsonObject): string[] {
  const takes = MODELS[model]!
  const {
    thinking,
    output_config,
    tool_choice,
    tools = [],
    max_tokens,
    temperature,
    top_p,
    top_k,
    messages,
  } = body as Loose
  const effort = output_config?.effort
  const on = thinking !== undefined && thinking.type !== 'disabled'
  const manual = thinking?.type === 'enabled'
  const force = tool_choice?.type === 'any' || tool_choice?.type === 'tool'
  const last = messages.at(-1)
  const faults: { readonly [fault: string]: boolean } = {
    [`thinking ${thinking?.type}`]: thinking !== undefined && !takes.thinking.includes(thinking.type),
    [`effort ${effort}`]: effort !== undefined && !takes.efforts.split(' ').includes(effort),
    'forced tools': force && (!takes.forced || manual),
    'a named tool that is not there': tool_choice?.type === 'tool' && !nameIn(tools, tool_choice.name),
    'a tool choice without tools': tool_choice !== undefined && tools.length === 0,
    prefill: last.role === 'assistant' && (!takes.prefill || on),
    'space at the end': last.role === 'assistant' && /\s$/.test(textOf(last)),
    'a call without a result': last.role === 'assistant' && blocksOf(last).some(({ type }) => type === 'tool_use'),
    max_tokens: max_tokens > takes.output || (manual && thinking.budget_tokens >= max_tokens),
    budget: manual && thinking.budget_tokens < 1024,
    'dice while thinking': on && ((temperature ?? 1) !== 1 || (top_p ?? 1) < 0.95 || top_k !== undefined),
    // "clear_thinking_20251015 strategy requires thinking to be enabled or adaptive" (CLIProxyAPI#4957, claude-code#11971).
    'cleared reasoning without thinking': !['enabled', 'adaptive'].includes(thinking?.type) && clears(body),
    dice: takes.dice === 'none' && [temperature, top_p, top_k].some(one => one !== undefined),
    'dice twice': takes.dice === 'one' && temperature !== undefined && top_p !== undefined,
    'a budget beside no manual thinking': !manual && thinking?.budget_tokens !== undefined,
    'between_tools with more': thinking?.type === 'between_tools' && Object.keys(thinking).length > 1,
    // `additionalProperties: false` of `ThinkingConfigDisabled` in Anthropic's OpenAPI description.
    'disabled with more': thinking?.type === 'disabled' && Object.keys(thinking).length > 1,
    'no thought before calls': manual && lacksThought(messages),
    'system turns': takes.systems === undefined && messages.some(({ role }: Loose) => role === 'system'),
    'a system turn that does not stand between the user and the assistant': messages.some(
      ({ role }: Loose, at: number) =>
        role === 'system' &&
        (messages[at - 1]?.role !== 'user' || ![undefined, 'assistant'].includes(messages[at + 1]?.role)),
    ),
    markers: JSON.stringify(body).split('"cache_control"').length - 1 > 4,
  }
  return Object.keys(faults).filter(fault => faults[fault])
}

const clears = ({ context_management }: Loose): boolean =>
  context_management?.edits.some(({ type }: Loose) => type.startsWith('clear_thinking')) === true

const blocksOf = ({ content }: Loose): readonly Loose[] => (Array.isArray(content) ? content : [])

const textOf = ({ content }: Loose): string => (typeof content === 'string' ? content : (content.at(-1)?.text ?? ''))

const nameIn = (tools: readonly Loose[], name: string): boolean => tools.some(tool => tool['name'] === name)

/**
 * Whether a turn in a loop of tool calls lacks the reasoning at its start that manual thinking requires. Neighbours of
 * one role are one turn.
 */
function lacksThought(messages: readonly Loose[]): boolean {
  if (!blocksOf(messages.at(-1)!).some(({ type }) => type === 'tool_result')) return false
  const before = messages.slice(0, -1)
  const turn = before.slice(before.findLastIndex(({ role }) => role !== 'assistant') + 1).flatMap(blocksOf)
  return turn.some(({ type }) => type === 'tool_use') && !/thinking/.test(turn[0]!['type'])
}

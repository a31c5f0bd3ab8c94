import type { JsonObject } from '../../src/canonical/node.ts'

/*
 * Hand-written checks of the settings that OpenAI's models accept, as strict as the real API. They use no code of the
 * gateway. The facts are those of the AI SDK's and LiteLLM's tables of models, read on 2026-11-30.
 */

interface Takes {
  readonly efforts: string
  /** When temperature, top_p and log probabilities are taken. */
  readonly dice: 'always' | 'without effort' | 'with effort none' | 'never'
  readonly verbosity?: false
  /** Whether penalties and stop sequences are taken. By default as dice are. */
  readonly steered?: false
  /** Whether the model reasons without taking an effort. */
  readonly reasons?: true
}

const NEVER = { dice: 'never' } as const
const PLAIN: Takes = { efforts: '', dice: 'always', verbosity: false }

export const MODELS: { readonly [model: string]: Takes } = {
  'gpt-4o': PLAIN,
  'openai/gpt-4.1-mini': PLAIN,
  'gpt-3.5-turbo': PLAIN,
  'gpt-5-chat-latest': PLAIN,
  'gpt-5': { ...NEVER, efforts: 'minimal low medium high' },
  'gpt-5-mini-2025-08-07': { ...NEVER, efforts: 'minimal low medium high' },
  'gpt-5-pro': { ...NEVER, efforts: 'high' },
  'gpt-5.1': { efforts: 'none low medium high', dice: 'without effort' },
  'gpt-5.1-codex': { ...NEVER, efforts: 'low medium high' },
  'gpt-5.2': { efforts: 'none low medium high xhigh', dice: 'without effort' },
  'gpt-5.4-mini': { efforts: 'none low medium high xhigh', dice: 'without effort' },
  'gpt-5.5': { efforts: 'none low medium high xhigh', dice: 'with effort none' },
  'openai/gpt-5.6-luna': { efforts: 'none low medium high xhigh', dice: 'with effort none' },
  'gpt-5.5-pro': { ...NEVER, efforts: 'medium high xhigh' },
  'gpt-6-sol': { ...NEVER, efforts: 'none low medium high xhigh max' },
  'gpt-6.1-sol': { ...NEVER, efforts: 'low medium high xhigh max' },
  'gpt-6-astra': { ...NEVER, efforts: 'low medium high xhigh max' },
  o3: { ...NEVER, efforts: 'low medium high', verbosity: false },
  'o4-mini': { ...NEVER, efforts: 'low medium high', verbosity: false },
  'grok-3-mini': { efforts: 'low high', dice: 'always', steered: false },
  'grok-4-0709': { efforts: '', dice: 'always', steered: false, reasons: true },
  'grok-4-1-fast-non-reasoning': { efforts: '', dice: 'always', steered: false },
  'x-ai/grok-4.3': { efforts: 'none low medium high xhigh', dice: 'always', steered: false },
  'gpt-oss-120b': { efforts: 'low medium high', dice: 'always' },
}

// biome-ignore lint/suspicious/noExplicitAny: the wire is looked into by hand here.
type Loose = { readonly [field: string]: any }

/** Returns the reasons why the model refuses the settings of a request. An empty list if it accepts them. */
export function refusals(model: string, body: JsonObject): string[] {
  const takes = MODELS[model]!
  const { reasoning, text, include = [], input = [] } = body as Loose
  const effort = body['reasoning_effort'] ?? reasoning?.effort
  const dice = ['temperature', 'top_p', 'logprobs', 'top_logprobs'].some(field => body[field] != null)
  const reasons = takes.efforts !== '' || takes.reasons === true
  const steered = ['frequency_penalty', 'presence_penalty', 'logit_bias', 'stop'].some(field => body[field] != null)
  const verbosity = body['verbosity'] ?? text?.verbosity
  const faults: { readonly [fault: string]: boolean } = {
    [`effort ${effort}`]: effort != null && !takes.efforts.split(' ').includes(effort),
    dice: (dice || include.includes('message.output_text.logprobs')) && !takesDice(takes, effort),
    'penalties or stops': steered && (takes.dice !== 'always' || takes.steered === false),
    max_tokens: body['max_tokens'] != null && takes.dice !== 'always',
    verbosity: verbosity != null && verbosity !== 'medium' && takes.verbosity === false,
    'settings of reasoning': reasoning != null && !reasons,
    'encrypted reasoning': include.includes('reasoning.encrypted_content') && !reasons,
    'items of reasoning': input.some?.(({ type }: Loose) => type === 'reasoning') === true && !reasons,
  }
  return Object.keys(faults).filter(fault => faults[fault])
}

function takesDice({ dice }: Takes, effort: string | undefined): boolean {
  if (dice === 'always') return true
  if (effort === 'none') return dice !== 'never'
  return dice === 'without effort' && effort == null
}

import { defined, type JsonObject } from '../../canonical/node.ts'
import { type Draft, freeName, newDraft, objectOf, objectsOf, textOf } from './draft.ts'

/*
 * Routing configs of Portkey's gateway: a target, or a strategy over targets (portkey.ai/docs, "Configs", and the
 * gateway's pages on routing, read on 2026-11-28).
 */

/** Presets by Portkey's name of a provider. */
const PRESETS: { readonly [provider: string]: string } = {
  ...{ openai: 'openai', anthropic: 'anthropic', google: 'google', 'x-ai': 'xai', deepseek: 'deepseek', groq: 'groq' },
  ...{ 'mistral-ai': 'mistral', 'together-ai': 'together', cerebras: 'cerebras', zai: 'zai', moonshot: 'moonshot' },
  ...{ dashscope: 'dashscope', minimax: 'minimax', openrouter: 'openrouter', cohere: 'cohere', voyage: 'voyage' },
  ...{ jina: 'jina', ollama: 'ollama', huggingface: 'huggingface', deepgram: 'deepgram' },
}

/** Fields of a target that have a place in the config. */
const TAKEN: ReadonlySet<string> = new Set([
  ...['provider', 'api_key', 'override_params', 'weight', 'custom_host', 'request_timeout', 'strategy', 'targets'],
  ...['name', 'retry'],
])

/** Position of a target among the others. */
interface Rank {
  readonly priority: number
  readonly weight?: number
}

/** Reads a routing config. Its models get the name `portkey` if it names none for callers. */
export function importPortkey(value: unknown): Draft {
  const draft = newDraft()
  addTarget(draft, objectOf(value), { priority: 0 }, '')
  return draft
}

/** Adds a target and those below it. Returns the number of priorities that they take. */
function addTarget(draft: Draft, target: JsonObject, rank: Rank, path: string): number {
  const mode = textOf(objectOf(target['strategy'])['mode']) ?? 'single'
  const below = objectsOf(target['targets'])
  noteRest(draft, target, path)
  if (below.length === 0) return addChannel(draft, target, rank, path)
  if (mode === 'conditional')
    draft.notes.push({
      path: `${path}strategy`,
      text: 'conditions have no place in the config; its targets are fallbacks of each other',
    })
  let taken = 0
  for (const [index, one] of below.entries()) {
    const at = `${path}targets[${index}].`
    const weight = typeof one['weight'] === 'number' ? one['weight'] : undefined
    if (mode === 'loadbalance')
      taken = Math.max(taken, addTarget(draft, one, defined({ priority: rank.priority, weight }), at))
    else taken += addTarget(draft, one, { priority: rank.priority + taken }, at)
  }
  return taken
}

function noteRest(draft: Draft, target: JsonObject, path: string): void {
  for (const field of Object.keys(target))
    if (!TAKEN.has(field))
      draft.notes.push({ path: `${path}${field}`, text: NOTES[field] ?? 'a channel has no such field' })
  if (objectOf(target['strategy'])['on_status_codes'] !== undefined)
    draft.notes.push({
      path: `${path}strategy.on_status_codes`,
      text: 'the next channel is tried after every failure of an upstream',
    })
}

const NOTES: { readonly [field: string]: string } = {
  virtual_key: 'it stands for a key that only Portkey has: set the key of the channel',
  cache: 'answers are not cached',
  input_guardrails: 'the gateway has no guardrails',
  output_guardrails: 'the gateway has no guardrails',
}

function addChannel(draft: Draft, target: JsonObject, { priority, weight }: Rank, path: string): number {
  const name = textOf(target['provider'])
  const host = textOf(target['custom_host'])
  const provider = host === undefined ? PRESETS[name ?? ''] : 'custom'
  if (provider === undefined) {
    const text =
      name === undefined
        ? 'it names no provider'
        : `there is no preset for "${name}": write a channel with provider: custom`
    draft.notes.push({ path: `${path}provider`, text })
    return 0
  }
  const model = textOf(objectOf(target['override_params'])['model'])
  const timeout = target['request_timeout']
  draft.channels.push({
    name: freeName(draft, name ?? 'custom'),
    provider,
    models: new Map(model === undefined ? [['*', '*']] : [['portkey', model]]),
    fields: defined({
      key: textOf(target['api_key']) ?? (provider === 'custom' ? 'none' : undefined),
      ...(host === undefined ? {} : { formats: ['chat'], base_url: host.replace(/\/+$/, '') }),
      timeout: typeof timeout === 'number' ? { whole: `${Math.ceil(timeout / 1000)}s` } : undefined,
      priority: priority === 0 ? undefined : priority,
      weight: weight === 0 ? undefined : weight,
    }),
  })
  return 1
}

import { rowOf } from '../../canonical/maps.ts'
import { defined, type JsonObject } from '../../canonical/node.ts'
import {
  addressIn,
  COMPATIBLE_FORMATS,
  type Draft,
  freeName,
  isVendorAddress,
  newDraft,
  objectOf,
  objectsOf,
  textOf,
} from './draft.ts'
import { CLOUDS, type PortkeyAccount } from './portkey-clouds.ts'
import { importIntegrations } from './portkey-integrations.ts'
import { ADDRESSES, PRESETS } from './portkey-presets.ts'

/*
 * Routing configs of Portkey's gateway: a target, or a strategy over targets (portkey.ai/docs, "Configs", and the
 * gateway's pages on routing, read on 2026-11-28).
 */

/** Fields of a target that the config can express or that need no equivalent. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...['provider', 'api_key', 'override_params', 'weight', 'custom_host', 'request_timeout', 'strategy', 'targets'],
  'name',
])

/** Rank of a target among the others. */
interface Rank {
  readonly priority: number
  readonly weight?: number
}

/**
 * Reads a routing config, or the integrations in a gateway's `conf.json`. If a routing config has no model names for
 * callers, its models get the name `portkey`.
 */
export function importPortkey(value: unknown): Draft {
  const draft = newDraft()
  const config = objectOf(value)
  if (config['integrations'] === undefined) addTarget(draft, config, { rank: { priority: 0 }, inherited: {} }, '')
  else importIntegrations(draft, config)
  return draft
}

const MODES: ReadonlySet<string> = new Set(['single', 'fallback', 'loadbalance'])

/** Rank and inherited fields of a target in its group. */
interface Place {
  readonly rank: Rank
  /** Fields that apply where the target has none of its own. */
  readonly inherited: JsonObject
}

/** Adds a target and its nested targets. Returns the number of priorities that they use. */
function addTarget(draft: Draft, target: JsonObject, { rank, inherited }: Place, path: string): number {
  const mode = textOf(objectOf(target['strategy'])['mode'])
  const below = objectsOf(target['targets'])
  noteRest(draft, target, path)
  const whole = { ...inherited, ...target, override_params: overridesOf(inherited, target) }
  if (below.length === 0) return addChannel(draft, whole, rank, path)
  noteMode(draft, mode, path)
  const used = mode === 'single' ? below.slice(0, 1) : below
  for (const index of below.keys().drop(used.length))
    draft.notes.push({ path: `${path}targets[${index}]`, text: 'the mode `single` uses the first target only' })
  const shares = mode === 'loadbalance' ? sharesOf(used, rank.weight) : []
  const passedOn = inheritable(whole)
  let importedCount = 0
  for (const [index, one] of used.entries()) {
    const at = `${path}targets[${index}].`
    const add = (ownRank: Rank): number => addTarget(draft, one, { rank: ownRank, inherited: passedOn }, at)
    if (mode === 'loadbalance')
      importedCount = Math.max(importedCount, add(defined({ priority: rank.priority, weight: shares[index] })))
    // In a chain of fallbacks, the first target gets the share of the whole chain.
    else importedCount += add(importedCount === 0 ? rank : { priority: rank.priority + importedCount })
  }
  return importedCount
}

function noteMode(draft: Draft, mode: string | undefined, path: string): void {
  if (mode === 'conditional')
    draft.notes.push({
      path: `${path}strategy`,
      text: 'conditions have no equivalent in the config; the targets are tried in turn',
    })
  else if (mode !== undefined && !MODES.has(mode))
    draft.notes.push({ path: `${path}strategy.mode`, text: 'the targets are tried in turn instead' })
}

/** Fields of a group that its targets inherit (`tryTargetsRecursively` of Portkey's gateway, read on 2026-11-30). */
const INHERITED = ['custom_host', 'request_timeout', 'override_params'] as const

const inheritable = (group: JsonObject): JsonObject =>
  Object.fromEntries(INHERITED.filter(field => group[field] !== undefined).map(field => [field, group[field]!]))

const overridesOf = (inherited: JsonObject, target: JsonObject): JsonObject => ({
  ...objectOf(inherited['override_params']),
  ...objectOf(target['override_params']),
})

/** Returns the weights of the targets of a group. Those of a group within a group divide the group's own weight. */
function sharesOf(targets: readonly JsonObject[], whole: number | undefined): readonly (number | undefined)[] {
  const weights = targets.map(({ weight }) => (typeof weight === 'number' ? weight : undefined))
  if (whole === undefined) return weights
  const sum = weights.reduce<number>((total, weight) => total + (weight ?? 1), 0)
  return weights.map(weight => (sum === 0 ? whole : Number(((whole * (weight ?? 1)) / sum).toPrecision(6))))
}

function noteRest(draft: Draft, target: JsonObject, path: string): void {
  const cloud = rowOf(CLOUDS, textOf(target['provider']) ?? '')?.taken ?? []
  for (const field of Object.keys(target))
    if (!KNOWN_FIELDS.has(field) && !cloud.includes(field))
      draft.notes.push({ path: `${path}${field}`, text: rowOf(NOTES, field) ?? 'a channel has no such field' })
  for (const field of Object.keys(objectOf(target['override_params'])))
    if (field !== 'model')
      draft.notes.push({
        path: `${path}override_params.${field}`,
        text: 'clients set the parameters of their requests',
      })
  for (const field of Object.keys(objectOf(target['strategy'])))
    if (!STRATEGY_FIELDS.has(field))
      draft.notes.push({
        path: `${path}strategy.${field}`,
        text: rowOf(STRATEGY_NOTES, field) ?? 'it has no equivalent in the config',
      })
}

/** Fields of a strategy that are read. Conditions have a note of their own. */
const STRATEGY_FIELDS: ReadonlySet<string> = new Set(['mode', 'conditions', 'default'])
const STRATEGY_NOTES: { readonly [field: string]: string } = {
  on_status_codes: 'the next channel is tried after every failure of an upstream',
}

const NOTES: { readonly [field: string]: string } = {
  virtual_key: 'it refers to a key that only Portkey has: set the key of the channel',
  cache: 'answers are not cached',
  input_guardrails: 'the gateway has no guardrails',
  output_guardrails: 'the gateway has no guardrails',
  retry: 'a failed request is not retried on the same channel; the next channel is tried',
}

function addChannel(draft: Draft, target: JsonObject, { priority, weight }: Rank, path: string): number {
  const account = accountOf(target)
  if (typeof account === 'string') {
    draft.notes.push({ path: `${path}provider`, text: account })
    return 0
  }
  const timeout = target['request_timeout']
  draft.channels.push({
    name: freeName(draft.names, textOf(target['provider']) ?? 'custom'),
    provider: account.provider,
    models: new Map(account.model === undefined ? [['*', '*']] : [['portkey', account.model]]),
    fields: defined({
      ...account.fields,
      timeout: typeof timeout === 'number' && timeout > 0 ? { whole: `${Math.ceil(timeout / 1000)}s` } : undefined,
      priority: priority === 0 ? undefined : priority,
      weight,
    }),
  })
  return 1
}

/** Formats of the requests that Portkey sends to a `custom_host`, and the path that it appends. */
interface Host {
  readonly formats: readonly string[]
  readonly below: string
}

const CHAT: Host = { formats: COMPATIBLE_FORMATS, below: '' }

/** Hosts by provider, except those of Chat Completions (src/providers of its gateway, read on 2026-11-29). */
const HOSTS: { readonly [provider: string]: Host } = {
  anthropic: { formats: ['messages'], below: '' },
  google: { formats: ['contents'], below: '' },
  ollama: { formats: ['chat', 'completions', 'embeddings'], below: '/v1' },
}

/** Returns the account of a target, or the reason why there is none. */
function accountOf(target: JsonObject): PortkeyAccount | string {
  const name = textOf(target['provider'])
  const host = textOf(target['custom_host'])
  const key = textOf(target['api_key'])
  const model = textOf(objectOf(target['override_params'])['model'])
  if (host !== undefined) {
    const address = addressIn(host)
    if (address === undefined) return 'its custom_host is not an address'
    const preset = rowOf(PRESETS, name ?? '')
    if (isVendorAddress(preset, address)) return { provider: preset!, model, fields: defined({ key }) }
    const { formats, below } = rowOf(HOSTS, name ?? '') ?? CHAT
    return { provider: 'custom', model, fields: { key: key ?? 'none', formats, base_url: address + below } }
  }
  if (name === undefined) return 'it names no provider'
  if (name.startsWith('@')) return `only Portkey has "${name}": write the provider and its key`
  const cloud = rowOf(CLOUDS, name)?.account(target)
  if (cloud !== undefined) return typeof cloud === 'string' ? cloud : { ...cloud, model: model ?? cloud.model }
  const provider = rowOf(PRESETS, name)
  if (provider === undefined) return `there is no preset for "${name}": write a channel with provider: custom`
  return { provider, model, fields: defined({ key, base_url: rowOf(ADDRESSES, name) }) }
}

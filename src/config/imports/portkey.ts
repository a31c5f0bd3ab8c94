import { rowOf } from '../../canonical/maps.ts'
import { defined, isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { type Draft, freeName, newDraft, objectOf, objectsOf, textOf } from './draft.ts'
import { accountFields, accountOf } from './portkey-accounts.ts'
import { type CallerName, conditionalTargets, namesWithin, type UsedTarget } from './portkey-conditions.ts'
import { importIntegrations } from './portkey-integrations.ts'

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

/** Name of the models of a config that has none for callers. */
const NAME: CallerName = { name: 'portkey', open: ['*', '*'] }

/**
 * Reads a routing config, or the integrations in a gateway's `conf.json`. If a routing config has no model names for
 * callers, its models get the name `portkey`.
 */
export function importPortkey(value: unknown): Draft {
  const draft = newDraft()
  const config = objectOf(value)
  if (config['integrations'] === undefined) {
    addTarget(draft, withSnakeCase(config), { rank: { priority: 0 }, inherited: {}, names: [NAME] }, '')
    keepNames(draft)
  } else importIntegrations(draft, config)
  return draft
}

/** Returns a target and those below it with fields in snake_case. Portkey also takes camelCase. */
const withSnakeCase = (target: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(target).map(([field, value]) => [
      field.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
      partWithSnakeCase(field, value),
    ]),
  )

const partWithSnakeCase = (field: string, value: Json): Json => {
  if (field === 'targets') return objectsOf(value).map(withSnakeCase)
  return field === 'strategy' && isObject(value) ? withSnakeCase(value as JsonObject) : value
}

/**
 * Gives targets with a model every name if another target has none: callers then name models of that target, for which
 * the others answer with their own.
 */
function keepNames({ channels }: Draft): void {
  if (!channels.some(({ models }) => models.has('*'))) return
  for (const { models } of channels) {
    const model = models.get(NAME.name)
    if (model === undefined) continue
    models.delete(NAME.name)
    models.set('*', model)
  }
}

const MODES: ReadonlySet<string> = new Set(['single', 'fallback', 'loadbalance', 'conditional'])

/** Rank, inherited fields and names of a target in its group. */
interface Place {
  readonly rank: Rank
  /** Fields that apply where the target has none of its own. */
  readonly inherited: JsonObject
  /** Names of models for callers. */
  readonly names: readonly CallerName[]
}

/** Adds a target and its nested targets. Returns the number of priorities that they use. */
function addTarget(draft: Draft, target: JsonObject, { rank, inherited, names }: Place, path: string): number {
  const mode = textOf(objectOf(target['strategy'])['mode'])
  const below = objectsOf(target['targets'])
  noteRest(draft, target, path)
  const whole = { ...inherited, ...target, override_params: overridesOf(inherited, target) }
  if (below.length === 0) return addChannel(draft, whole, { rank, names }, path)
  if (mode !== undefined && !MODES.has(mode))
    draft.notes.push({ path: `${path}strategy.mode`, text: 'the targets are tried in turn instead' })
  const used = usedTargets(draft, mode, target, path)
  const shares = sharesOf(
    used.map(({ index }) => below[index]!),
    rank.weight,
  )
  const passedOn = inheritable(whole)
  const within = mode === 'conditional' ? [] : namesWithin(target)
  let importedCount = 0
  for (const [position, { index, names: ownNames, isDefault }] of used.entries()) {
    const at = `${path}targets[${index}].`
    const child = below[index]!
    const besides = without(within, namesWithin(child))
    const all = [...ownNames, ...(isDefault ? names : []), ...besides]
    const add = (ownRank: Rank): number =>
      addTarget(draft, child, { rank: ownRank, inherited: passedOn, names: all }, at)
    if (mode === 'loadbalance') {
      const count = add(defined({ priority: rank.priority, weight: shares[position] }))
      if (count > 1 && used.length > 1) draft.notes.push({ path: `${at}strategy.mode`, text: SHARED_CHAIN })
      importedCount = Math.max(importedCount, count)
    }
    // In a chain of fallbacks, the first target gets the share of the whole chain.
    else importedCount += add(importedCount === 0 ? rank : { priority: rank.priority + importedCount })
  }
  return importedCount
}

const SHARED_CHAIN = 'after a failure, the other targets that share the requests are tried before its own fallbacks'

/** Returns the names that are not among the others. */
function without(names: readonly CallerName[], others: readonly CallerName[]): readonly CallerName[] {
  const known = new Set(others.map(({ name }) => name))
  return names.filter(({ name }) => !known.has(name))
}

/** Returns the targets that a group uses, in the order of their priorities. Names the others. */
function usedTargets(draft: Draft, mode: string | undefined, group: JsonObject, path: string): readonly UsedTarget[] {
  const targets = objectsOf(group['targets'])
  const note = (at: string, text: string): void => void draft.notes.push({ path: `${path}${at}`, text })
  if (mode === 'conditional') {
    const { targets: used, named } = conditionalTargets(group)
    for (const [index, name] of named) {
      const chosen = name === undefined ? 'no model of another target' : `"${name}"`
      note(`strategy.conditions[${index}]`, `callers choose by the model: requests that meet it name ${chosen}`)
    }
    for (const index of targets.keys())
      if (!used.some(one => one.index === index)) note(`targets[${index}]`, 'no condition leads to it')
    return used
  }
  const isUsed = (index: number): boolean =>
    (mode !== 'single' || index === 0) && (mode !== 'loadbalance' || targets[index]!['weight'] !== 0)
  for (const index of targets.keys())
    if (!isUsed(index))
      note(
        mode === 'single' ? `targets[${index}]` : `targets[${index}].weight`,
        mode === 'single'
          ? 'the mode `single` uses the first target only'
          : 'is 0, so that the target gets no requests',
      )
  return [...targets.keys()].filter(isUsed).map(index => ({ index, names: [], isDefault: true }))
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
  const taken = accountFields(target)
  if (target['weight'] !== undefined && typeof target['weight'] !== 'number')
    draft.notes.push({ path: `${path}weight`, text: 'it is not a number' })
  for (const field of Object.keys(target))
    if (!KNOWN_FIELDS.has(field) && !taken.includes(field))
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

/** Adds the channel of a target. Returns the number of priorities that it uses. */
function addChannel(
  draft: Draft,
  target: JsonObject,
  { rank: { priority, weight }, names }: Omit<Place, 'inherited'>,
  path: string,
): number {
  const account = accountOf(target)
  if (typeof account === 'string') {
    draft.notes.push({ path: `${path}provider`, text: account })
    return 0
  }
  const timeout = target['request_timeout']
  draft.channels.push({
    name: freeName(draft.names, textOf(target['provider']) ?? 'custom'),
    provider: account.provider,
    models: new Map(names.map(({ name, open }) => (account.model === undefined ? open : [name, account.model]))),
    fields: defined({
      ...account.fields,
      timeout: typeof timeout === 'number' && timeout > 0 ? { whole: `${Math.ceil(timeout / 1000)}s` } : undefined,
      priority: priority === 0 ? undefined : priority,
      weight,
    }),
  })
  return 1
}

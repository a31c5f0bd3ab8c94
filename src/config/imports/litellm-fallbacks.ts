import { grouped } from '../../canonical/maps.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import { type Draft, type Facts, factsOf, objectOf, textOf } from './draft.ts'

/*
 * Fallbacks and aliases of LiteLLM's models (docs.litellm.ai, "Fallbacks" and "Load Balancing", read on 2026-11-28).
 */

/** Reads one setting into the draft. Returns a note if a part of the setting has no equivalent in the config. */
export type ReadSetting = (draft: Draft, setting: unknown, config: JsonObject) => string | undefined

/**
 * Returns a function that reads lists of fallbacks: `[{ model: [other, …] }]`. Plain names, and the fallbacks of `*`,
 * apply to every model.
 */
export const fallbacks =
  (reason?: string): ReadSetting =>
  (draft, setting) => {
    const rows = Array.isArray(setting) ? setting : [setting]
    const maps = rows.filter(isObject).flatMap(Object.entries) as (readonly [string, unknown])[]
    for (const [model, entries] of grouped(maps, ([model]) => model)) {
      const facts = model === '*' ? defaultGroup(draft) : factsOf(draft, model)
      const fallbackNames = entries.flatMap(([, others]) => namesIn(others)).filter(other => other !== model)
      addFallbacks(facts, fallbackNames, reason)
    }
    const fallbackNames = namesIn(rows)
    if (fallbackNames.length > 0) addFallbacks(defaultGroup(draft), fallbackNames, reason)
    const others = [...rows.filter(row => !isObject(row)), ...maps.flatMap(([, others]) => others)]
    return others.every(isName) ? undefined : 'fallbacks must be names of models'
  }

const addFallbacks = (facts: Facts, names: readonly string[], reason: string | undefined): void =>
  addRows(
    facts,
    names.map(model => [model, reason]),
  )

/** Adds fallback models, each with the reason for which it is taken, or undefined for every failure. */
function addRows(facts: Facts, added: readonly (readonly [model: string, reason: string | undefined])[]): void {
  const rows = new Map(fallbacksIn(facts).map(row => [typeof row === 'string' ? row : row.model, row]))
  for (const [model, reason] of added) rows.set(model, withReason(rows.get(model), model, reason))
  if (rows.size > 0) facts['fallbacks'] = [...rows.values()]
}

const fallbacksIn = (facts: Facts | undefined): readonly Fallback[] =>
  (facts?.['fallbacks'] as readonly Fallback[] | undefined) ?? []

/** A fallback for every failure, or only for some reasons. */
type Fallback = string | { readonly model: string; readonly on: readonly string[] }

/** Adds a reason to a fallback. Without a reason, the fallback applies to every failure. */
function withReason(before: Fallback | undefined, model: string, reason: string | undefined): Fallback {
  if (reason === undefined || typeof before === 'string') return model
  return { model, on: [...new Set([...(before?.on ?? []), reason])] }
}

const isName = (value: unknown): value is string => textOf(value) !== undefined

const namesIn = (value: unknown): readonly string[] => (Array.isArray(value) ? value : [value]).filter(isName)

/** Returns the default group of the draft, which the caller may modify. */
export const defaultGroup = (draft: Draft): Facts =>
  draft.groups.getOrInsertComputed('default', () => ({ models: ['*'] }))

/** Reads aliases, which are second names of models. */
export const aliases: ReadSetting = (draft, setting) => {
  const rows = Object.entries(objectOf(setting))
  const unknown = rows.filter(([alias, target]) => !addAlias(draft, alias, modelOf(target)))
  if (!isObject(setting)) return 'it is not a map of aliases'
  if (unknown.length > 0)
    return `no channel has the models of ${unknown.map(([alias]) => JSON.stringify(alias)).join(', ')}`
  return rows.every(([, target]) => typeof target === 'string' || Object.keys(objectOf(target)).length === 1)
    ? undefined
    : 'aliases have no fields except `model`; lists of models contain all aliases'
}

/** Returns the model of an alias: a name, or the field `model`. */
const modelOf = (target: unknown): string => textOf(target) ?? textOf(objectOf(target)['model']) ?? ''

/** Adds an alias to every channel that has the model. Returns false if no channel has it. */
function addAlias(draft: Draft, alias: string, model: string): boolean {
  const channels = draft.channels.filter(({ models }) => models.has(model))
  for (const { models } of channels) models.set(alias, models.get(model)!)
  return channels.length > 0
}

/**
 * Completes the fallbacks after all settings have been read. An alias gets the settings of its model. A model with its
 * own fallbacks does not use those of its group. Therefore, if a model's own fallbacks are all for specific reasons,
 * the group's fallbacks for every failure are added to them.
 *
 * @param settings the sections with settings.
 */
export function complete(draft: Draft, settings: readonly (readonly [string, JsonObject])[]): void {
  const aliased = new Map<string, string>()
  for (const [section, { model_group_alias }] of settings)
    for (const [alias, target] of Object.entries(objectOf(model_group_alias))) {
      aliased.set(alias, modelOf(target))
      const facts = draft.models.get(modelOf(target))
      if (facts === undefined || !draft.channels.some(({ models }) => models.has(alias))) continue
      const own = draft.models.get(alias)
      draft.models.set(alias, { ...structuredClone(facts), ...own })
      if (fallbacksIn(facts).length > 0 && fallbacksIn(own).length === 0)
        draft.notes.push({
          path: `${section}.model_group_alias.${alias}`,
          text: `has the fallbacks of its model, which LiteLLM does not document: remove them from \`models\` if it should have none`,
        })
    }
  const general = fallbacksIn(draft.groups.get('default'))
  for (const [model, facts] of draft.models) {
    const own = fallbacksIn(facts)
    if (own.length === 0 || own.some(row => typeof row === 'string')) continue
    const ownReasons = new Set(own.flatMap(row => (typeof row === 'string' ? [] : row.on)))
    const added = general.flatMap(row => {
      const name = typeof row === 'string' ? row : row.model
      const reasons = typeof row === 'string' ? [undefined] : row.on.filter(reason => !ownReasons.has(reason))
      return name === model ? [] : reasons.map(reason => [name, reason] as const)
    })
    addRows(facts, added)
  }
  addNext(draft, aliased)
}

/** Maximum number of models in a list whose own fallbacks are added to it. */
const MOST_EXPANDED = 20

/** Maximum number of fallbacks that are added to a list. */
const MOST_ADDED = 100

/**
 * Adds the fallbacks of fallbacks. LiteLLM also tries those of a fallback that fails, each model once
 * (`async_function_with_fallbacks` of version 1.108.7, run on 2026-12-01). This gateway tries only those in one list.
 */
function addNext({ models, groups }: Draft, aliased: ReadonlyMap<string, string>): void {
  const group = groups.get('default')
  const before = new Map([...models].map(([model, facts]) => [model, fallbacksIn(facts)]))
  const general = fallbacksIn(group)
  const of = (model: string): readonly Fallback[] => {
    const own = before.get(model) ?? []
    return own.length === 0 ? general : own
  }
  for (const [model, facts] of models)
    if (before.get(model)!.length > 0)
      facts['fallbacks'] = reached(of, model).filter(row => nameOf(row) !== aliased.get(model))
  if (group !== undefined && general.length > 0) group['fallbacks'] = reached(of)
}

/** Returns the fallbacks of a model, or of the group, each followed by its own that it does not have yet. */
function reached(of: (model: string) => readonly Fallback[], model?: string): readonly Fallback[] {
  const found = new Map<string, Fallback>()
  let [expandedCount, addedCount] = [0, 0]
  const add = (rows: readonly Fallback[], reasons: readonly string[] | undefined, isOwn: boolean): void => {
    for (const row of rows) {
      const name = nameOf(row)
      const on = common(reasonsOf(row), reasons)
      const known = found.get(name)
      if (name === model || on?.length === 0 || (known !== undefined && includesAll(reasonsOf(known), on))) continue
      if (!isOwn && known === undefined && addedCount++ >= MOST_ADDED) return
      const [first, ...more] = on ?? [undefined]
      found.set(
        name,
        more.reduce((row, reason) => withReason(row, name, reason), withReason(known, name, first)),
      )
      if (expandedCount++ < MOST_EXPANDED) add(of(name), on, false)
    }
  }
  add(of(model ?? ''), undefined, true)
  return [...found.values()]
}

const nameOf = (row: Fallback): string => (typeof row === 'string' ? row : row.model)

/** Returns the reasons of a fallback. Undefined stands for all. */
const reasonsOf = (row: Fallback): readonly string[] | undefined => (typeof row === 'string' ? undefined : row.on)

/** Returns the reasons that are in both lists. */
const common = (some?: readonly string[], others?: readonly string[]): readonly string[] | undefined =>
  some === undefined ? others : others === undefined ? some : some.filter(one => others.includes(one))

const includesAll = (some: readonly string[] | undefined, others: readonly string[] | undefined): boolean =>
  some === undefined || (others?.every(one => some.includes(one)) ?? false)

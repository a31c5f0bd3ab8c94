import { getOrAdd } from '../../canonical/maps.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import { objectOf, objectsOf, textOf } from './draft.ts'

/** Name of a model for callers. */
export interface CallerName {
  readonly name: string
  /** Name, and the upstream's name for it, where the target states no model. */
  readonly open: readonly [name: string, upstream: string]
}

/** A target that its group uses. */
export interface UsedTarget {
  readonly index: number
  /** Names for callers whose requests meet the conditions of the target. */
  readonly names: readonly CallerName[]
  /** True if the target also has the names of its group. */
  readonly isDefault: boolean
}

/** Targets of a conditional group in the order of their priorities, and parts without an equivalent. */
export interface ConditionalTargets {
  readonly targets: readonly UsedTarget[]
  /**
   * Conditions that are not about the model, each with the name by which callers choose its target. There is none for
   * the default target.
   */
  readonly named: ReadonlyMap<number, string | undefined>
}

/**
 * Turns the conditions of a group into names of models, by which callers choose a target in this gateway
 * (`ConditionalRouter` of Portkey's gateway, read on 2026-11-30). The default target comes last, because it may have every
 * name.
 */
export function conditionalTargets(group: JsonObject): ConditionalTargets {
  const strategy = objectOf(group['strategy'])
  const fallback = textOf(strategy['default'])
  const conditions = objectsOf(strategy['conditions'])
  const lastOther = conditions.findLastIndex(({ then }) => textOf(then) !== undefined && then !== fallback)
  const named = new Map<number, string | undefined>()
  const taken = new Set<string>()
  const namesByTarget = new Map<string, Map<string, CallerName>>()
  for (const [index, condition] of conditions.entries()) {
    const target = textOf(condition['then'])
    if (target === undefined) continue
    const names = getOrAdd(namesByTarget, target, () => new Map<string, CallerName>())
    const models = modelsIn(condition['query'])
    if (models === undefined && target === fallback) {
      if (index < lastOther) named.set(index, undefined)
      continue
    }
    if (models === undefined) {
      named.set(index, target)
      names.set(target, { name: target, open: [`${target}/*`, '*'] })
    }
    for (const name of models ?? []) if (!taken.has(name)) names.set(name, { name, open: [name, name] })
    for (const name of models ?? []) taken.add(name)
  }
  const targets = [...firstByName(objectsOf(group['targets']))]
  const namesOf = (name: string): readonly CallerName[] => [...(namesByTarget.get(name)?.values() ?? [])]
  const conditional = targets.flatMap(([name, index]): UsedTarget[] => {
    const names = namesOf(name)
    return name === fallback || names.length === 0 ? [] : [{ index, names, isDefault: false }]
  })
  const last = targets
    .filter(([name]) => name === fallback)
    .map(([name, index]): UsedTarget => ({ index, names: namesOf(name), isDefault: true }))
  return { targets: [...conditional, ...last], named }
}

/** Returns the names of models that conditions within a target add. */
export function namesWithin(target: JsonObject): readonly CallerName[] {
  const below = objectsOf(target['targets'])
  const isConditional = objectOf(target['strategy'])['mode'] === 'conditional'
  const own = isConditional ? conditionalTargets(target).targets.flatMap(({ names }) => names) : []
  return [...own, ...below.flatMap(namesWithin)]
}

/** Returns the index of the first target of each name. Portkey never uses the others. */
function firstByName(targets: readonly JsonObject[]): ReadonlyMap<string, number> {
  const indexes = new Map<string, number>()
  for (const [index, target] of targets.entries()) {
    const name = textOf(target['name'])
    if (name !== undefined && !indexes.has(name)) indexes.set(name, index)
  }
  return indexes
}

/** Returns the names of models that meet a query, or undefined if it is about anything else. */
function modelsIn(query: unknown): readonly string[] | undefined {
  const [row, ...others] = Object.entries(objectOf(query))
  if (row === undefined || others.length > 0) return undefined
  const [field, value] = row
  if (field === '$or' && Array.isArray(value)) return all(value.map(modelsIn))?.flat()
  if (field !== 'params.model') return undefined
  if (!isObject(value)) return all([textOf(value)])
  const [operator, ...more] = Object.entries(value as JsonObject)
  if (operator === undefined || more.length > 0) return undefined
  if (operator[0] === '$eq') return all([textOf(operator[1])])
  return operator[0] === '$in' && Array.isArray(operator[1]) ? all(operator[1].map(textOf)) : undefined
}

/** Returns the values if none of them is undefined. */
const all = <T>(values: readonly (T | undefined)[]): readonly T[] | undefined =>
  values.includes(undefined) ? undefined : (values as readonly T[])

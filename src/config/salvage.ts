import * as v from 'valibot'
import type { Path } from '../canonical/loss.ts'
import { isObject } from '../canonical/node.ts'
import { CONFIG_SCHEMA, type WrittenConfig } from './index.ts'

/** A config without its faulty values. */
export interface SalvagedConfig {
  readonly written: WrittenConfig
  /** Maps a path in `written` to its path in the file. Lists in `written` may be shorter. */
  sourceOf(path: Path): Path
}

type Step = Path[number]

/** Repair of the value at a path, and of the values inside it. */
interface Repair {
  /** A faulty value is omitted, or replaced by a string if its map requires a value. */
  by?: 'omission' | 'replacement'
  readonly inside: Map<Step, Repair>
}

/**
 * Removes faulty values, so that the rest of a config can still be checked. A map is removed entirely if it requires a
 * value that a placeholder string cannot replace.
 *
 * @param faulty the paths of the faults that the schema found.
 */
export function salvage(value: unknown, faulty: readonly Path[]): SalvagedConfig {
  const root: Repair = { inside: new Map() }
  let paths = faulty
  for (;;) {
    const done = new Set<Repair>()
    for (const path of paths) repair(root, path, done)
    const { copy, sourceOf } = applyRepair(value, root)
    const parsed = v.safeParse(CONFIG_SCHEMA, copy ?? {})
    if (parsed.success) return { written: parsed.output, sourceOf }
    paths = parsed.issues.map(({ path = [] }) => sourceOf(path.map(({ key }) => key as Step)))
  }
}

/**
 * Applies the next stronger repair at a path: first to the value, then to the map or list that contains it.
 *
 * @param done the repairs of this round. A value with several faults is repaired only once per round.
 */
function repair(root: Repair, path: Path, done: Set<Repair>): void {
  const found = path.reduce<Repair>((parent, step) => {
    const inside = parent.inside.get(step) ?? { inside: new Map() }
    parent.inside.set(step, inside)
    return inside
  }, root)
  if (done.has(found)) return
  if (found.by === 'replacement') return repair(root, path.slice(0, -1), done)
  done.add(found)
  found.by = found.by === undefined || path.length === 0 ? 'omission' : 'replacement'
}

const NO_REPAIR: Repair = { inside: new Map() }

/** Returns a copy of a value with all repairs applied. The copy is undefined if the whole value was removed. */
function applyRepair(
  value: unknown,
  root: Repair,
): { readonly copy: unknown; readonly sourceOf: SalvagedConfig['sourceOf'] } {
  /** Original indexes of the items, for each list in the copy. */
  const indexes = new Map<unknown, readonly number[]>()
  const copyOf = (one: unknown, { by, inside }: Repair, path: string): unknown => {
    if (by !== undefined) return by === 'omission' ? undefined : path
    const copyAt = (step: Step): unknown =>
      copyOf((one as { readonly [key: Step]: unknown })[step], inside.get(step) ?? NO_REPAIR, `${path}/${step}`)
    if (inside.size === 0) return one
    if (Array.isArray(one)) {
      const items = [...one.keys()]
        .map(index => [index, copyAt(index)] as const)
        .filter(([, item]) => item !== undefined)
      const copy = items.map(([, item]) => item)
      indexes.set(
        copy,
        items.map(([index]) => index),
      )
      return copy
    }
    if (!isObject(one)) return one
    const keys = new Set<Step>([...Object.keys(one), ...inside.keys()])
    return Object.fromEntries(
      [...keys].map(key => [key, copyAt(key)] as const).filter(([, item]) => item !== undefined),
    )
  }
  const copy = copyOf(value, root, '')
  const sourceOf = (path: Path): Path => {
    let parent = copy
    return path.map(step => {
      const index = indexes.get(parent)?.[step as number] ?? step
      parent = (parent as { readonly [key: Step]: unknown } | undefined)?.[step]
      return index
    })
  }
  return { copy, sourceOf }
}

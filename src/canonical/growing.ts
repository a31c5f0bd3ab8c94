import { append } from './append.ts'
import { put } from './defined.ts'
import type { Json, JsonObject } from './node.ts'

/** Lists and objects made here that grow in place: copying them for each addition would take quadratic time. */
const growing = new WeakSet<object>()

/** The list with more appended: a new one, unless it was made here and is `owned`, with no other reference to it. */
export function longer<T>(before: readonly T[] | undefined, more: readonly T[], owned: boolean): readonly T[] {
  const list = owned && before !== undefined && growing.has(before) ? (before as T[]) : [...(before ?? [])]
  append(list, more)
  if (owned) growing.add(list)
  return list
}

/** As `longer`, for the fields of an object: later ones win. */
export function wider(before: JsonObject | undefined, more: JsonObject, owned: boolean): JsonObject {
  const isOwn = owned && before !== undefined && growing.has(before)
  const fields = isOwn ? (before as { [key: string]: Json }) : { ...before }
  for (const key of Object.keys(more)) put(fields, key, more[key])
  if (owned) growing.add(fields)
  return fields
}

import type { JsonObject } from '../../canonical/node.ts'

/** Fields that were read, by watched object. */
const reads = new WeakMap<JsonObject, Set<string>>()

/** Returns a view of an object that remembers which of its fields are read, so that the others can be reported. */
export function watched(object: JsonObject): JsonObject {
  const read = new Set<string>()
  const view = new Proxy(object, {
    get(target, field) {
      if (typeof field === 'string') read.add(field)
      return Reflect.get(target, field)
    },
  })
  reads.set(view, read)
  return view
}

/** Returns the fields of a watched object that nobody has read. */
export const unread = (view: JsonObject): string[] => Object.keys(view).filter(field => !reads.get(view)!.has(field))

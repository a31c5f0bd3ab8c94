import type { JsonObject } from '../../canonical/node.ts'

/** Fields that have been read, by watched object. */
const reads = new WeakMap<JsonObject, Set<string>>()

/** Returns a view of an object that records which fields are read, so that the others can be reported. */
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

/** Returns the unread fields of a watched object. */
export const unread = (view: JsonObject): string[] => Object.keys(view).filter(field => !reads.get(view)!.has(field))

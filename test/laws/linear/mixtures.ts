import { isObject, type Json, type JsonObject } from '../../../src/canonical/node.ts'

/*
 * Values of n nodes, made from small samples. Each list of a sample gets n entries of every kind that any sample has at
 * that path.
 */

/** Entries of the samples' lists at one path, and the sample that is extended. */
interface Place {
  readonly sample: JsonObject
  readonly path: readonly (string | number)[]
  readonly kinds: Map<string, Json>
}

export type Mixture = (n: number) => JsonObject

/** Unknown fields. They are all treated alike, so that one of them is enough. */
const UNKNOWN = /(?:^|\/)(?:x_[a-z]+|vendor|constructor|__proto__)(?:\/.*)?$/

/** Returns the positions by the path of the list, with `*` for indexes of outer lists. */
export function mixturesOf(samples: readonly JsonObject[]): ReadonlyMap<string, Mixture> {
  const places = new Map<string, Place>()
  for (const sample of samples) collect(sample, [], sample, places)
  const unknown = [...places.keys()].filter(name => UNKNOWN.test(name))
  for (const name of unknown.slice(1)) places.delete(name)
  return new Map(
    [...places].map(([name, { sample, path, kinds }]) => {
      const entries = [...kinds.values()]
      return [name, n => put(sample, path, n, index => entries[index % entries.length]!) as JsonObject]
    }),
  )
}

function collect(
  value: Json,
  path: readonly (string | number)[],
  sample: JsonObject,
  places: Map<string, Place>,
): void {
  if (Array.isArray(value)) {
    const name = path.map(step => (typeof step === 'number' ? '*' : step)).join('/')
    const kinds = places.get(name)?.kinds ?? new Map<string, Json>()
    // The sample with the longest list is chosen, because it is the likeliest to be read.
    const known = places.get(name)
    if (
      value.length > 0 &&
      (known === undefined || JSON.stringify(sample).length < JSON.stringify(known.sample).length)
    )
      places.set(name, { sample, path, kinds })
    for (const [index, entry] of (value as readonly Json[]).entries()) {
      kinds.set(kindOf(entry), entry)
      collect(entry, [...path, index], sample, places)
    }
  } else if (isObject(value)) for (const key in value) collect(value[key]!, [...path, key], sample, places)
}

const kindOf = (entry: Json): string =>
  isObject(entry) ? String(entry['type'] ?? entry['role'] ?? Object.keys(entry).sort()[0]) : typeof entry

function put(
  value: Json,
  [step, ...deeper]: readonly (string | number)[],
  n: number,
  entry: (index: number) => Json,
): Json {
  if (step === undefined)
    return [...(value as readonly Json[]), ...Array.from({ length: n }, (_, index) => numbered(entry(index), index))]
  if (Array.isArray(value)) return value.map((one, index) => (index === step ? put(one, deeper, n, entry) : one))
  return { ...(value as JsonObject), [step]: put((value as JsonObject)[step]!, deeper, n, entry) }
}

/** Gives entries with ids different ids. */
export function numbered(entry: Json, index: number): Json {
  if (!isObject(entry)) return typeof entry === 'string' ? `${entry}${index}` : entry
  const ids = Object.entries(entry).filter(
    ([key, value]) => (key === 'id' || key === 'call_id' || key === 'name') && typeof value === 'string',
  )
  return { ...entry, ...Object.fromEntries(ids.map(([key, value]) => [key, `${value}${index}`])) }
}

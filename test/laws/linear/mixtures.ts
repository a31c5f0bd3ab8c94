import { isObject, type Json, type JsonObject } from '../../../src/canonical/node.ts'

/*
 * Values of n nodes made of small ones: wherever a sample of a format has a list, one with n entries of every kind that
 * any sample has in that place.
 */

/** What a sample has in a list of one place, and the sample to put more of them into. */
interface Place {
  readonly sample: JsonObject
  readonly path: readonly (string | number)[]
  readonly kinds: Map<string, Json>
}

export type Mixture = (n: number) => JsonObject

/** Fields nobody knows are all the same to everybody: one of them is enough. */
const UNKNOWN = /(?:^|\/)(?:x_[a-z]+|vendor|constructor|__proto__)(?:\/.*)?$/

/** By the path of the list, with `*` for places in lists around it. */
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
    // Rather into the sample with the longest list there: it is the likeliest to be read.
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

/** Entries that have ids of their own. */
function numbered(entry: Json, index: number): Json {
  if (!isObject(entry)) return typeof entry === 'string' ? `${entry}${index}` : entry
  const ids = Object.entries(entry).filter(
    ([key, value]) => (key === 'id' || key === 'call_id' || key === 'name') && typeof value === 'string',
  )
  return { ...entry, ...Object.fromEntries(ids.map(([key, value]) => [key, `${value}${index}`])) }
}

import fc from 'fast-check'
import { isObject, type Json, type JsonObject } from '../../src/canonical/node.ts'

type Step = string | number

interface Place {
  readonly path: readonly Step[]
  /** Where it stands in any body of its kind: objects on the way by what they are, items of a list alike. */
  readonly shape: string
  /** The shape of the object it is a field of; items of lists have none. */
  readonly holder: string | undefined
  readonly value: Json
}

/** What an object is; never changed, since the rest of it would be that of another. */
const KINDS = ['type', 'role', 'object']
/** Bytes in base64 are no text either. */
const FIXED: ReadonlySet<string> = new Set([...KINDS, 'data'])

const kindOf = (value: JsonObject): string =>
  KINDS.map(key => (typeof value[key] === 'string' ? value[key] : '')).join(' ')

function placesOf(value: Json, path: readonly Step[] = [], shape = ''): Place[] {
  if (Array.isArray(value))
    return value.flatMap((item, index) => below(item, [...path, index], `${shape}.*`, undefined))
  if (!isObject(value)) return []
  const holder = `${shape}<${kindOf(value)}>`
  return Object.entries(value).flatMap(([key, item]) =>
    FIXED.has(key) ? [] : below(item!, [...path, key], `${holder}.${key}`, holder),
  )
}

const below = (value: Json, path: readonly Step[], shape: string, holder: string | undefined): Place[] => [
  { path, shape, holder, value },
  ...placesOf(value, path, shape),
]

/** What stands at each shape in all bodies, and how many objects there are of each. */
class Census {
  readonly values = new Map<string, Json[]>()
  private readonly holders = new Map<string, number>()

  constructor(bodies: readonly JsonObject[]) {
    for (const body of bodies) {
      this.hold(`<${kindOf(body)}>`)
      for (const { shape, value } of placesOf(body)) {
        const values = this.values.get(shape)
        if (values === undefined) this.values.set(shape, [value])
        else values.push(value)
        if (isObject(value)) this.hold(`${shape}<${kindOf(value)}>`)
      }
    }
  }

  /** Whether some object of its kind does without it. */
  isOptional({ shape, holder }: Place): boolean {
    return holder === undefined || (this.values.get(shape)?.length ?? 0) < (this.holders.get(holder) ?? 0)
  }

  private hold(holder: string): void {
    this.holders.set(holder, (this.holders.get(holder) ?? 0) + 1)
  }
}

function changed(value: Json, [step, ...rest]: readonly Step[], became: Json | undefined): Json {
  if (step === undefined) return became ?? null
  if (Array.isArray(value)) {
    if (rest.length === 0 && became === undefined) return value.filter((_, index) => index !== step)
    return value.map((item, index) => (index === step ? changed(item, rest, became) : item))
  }
  const { [step]: inner, ...others } = value as JsonObject
  if (rest.length === 0 && became === undefined) return others
  return { ...(value as JsonObject), [step]: changed(inner!, rest, became) }
}

/**
 * Bodies with up to three pieces changed for pieces of other bodies from the same place, or left out where others do
 * without; each with the index of the body it was.
 */
export function mutated(bodies: readonly JsonObject[]): fc.Arbitrary<readonly [number, JsonObject]> {
  const census = new Census(bodies)
  const mutation = fc.record({ place: fc.nat(), value: fc.nat(), drops: fc.integer({ min: 0, max: 2 }) })
  return fc
    .tuple(fc.nat(bodies.length - 1), fc.array(mutation, { minLength: 1, maxLength: 3 }))
    .map(([index, list]) => {
      let body: Json = bodies[index]!
      for (const { place: at, value, drops } of list) {
        const places = placesOf(body)
        const place = places[at % places.length]!
        const values = census.values.get(place.shape) ?? [place.value]
        const leaves = drops === 0 && census.isOptional(place)
        body = changed(body, place.path, leaves ? undefined : values[value % values.length])
      }
      return [index, body as JsonObject] as const
    })
}

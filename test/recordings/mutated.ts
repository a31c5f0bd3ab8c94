import fc from 'fast-check'
import { isObject, type Json, type JsonObject } from '../../src/canonical/node.ts'

type Step = string | number

interface Place {
  readonly path: readonly Step[]
  /** Path in any body of its kind. Objects on the path are named by their kind, and items of a list count as one. */
  readonly shape: string
  /** Shape of the object that contains the field. Items of lists have none. */
  readonly holder: string | undefined
  readonly value: Json
}

/**
 * Fields that determine the kind of an object. They are never changed, because the rest of the object would not fit.
 */
const KINDS = ['type', 'role', 'object']
/** Fields with base64, which are never changed. */
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

/** Values at each shape in all bodies, and the number of objects of each shape. */
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

  /** Whether some object of the kind lacks the field. */
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
 * Generates bodies with up to three values replaced by values of other bodies from the same path, or left out if others
 * lack them. Each comes with the index of the original body.
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

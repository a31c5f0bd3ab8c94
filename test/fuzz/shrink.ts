import { isObject, type Json } from '../../src/canonical/node.ts'
import { kindOf, sizeOf } from './finding.ts'
import { without, withValue } from './mutate.ts'
import { broken } from './oracles.ts'
import type { Broken, Target } from './target.ts'

/** Maximum number of runs to make an input smaller. */
const MAX_RUNS = 600
/** Maximum time for that, in milliseconds. */
const MAX_TIME = 10_000

/** Makes an input smaller as long as it breaks the same law in the same way. */
export async function shrunk(
  target: Target,
  input: Json,
  fault: Broken,
): Promise<{ readonly input: Json; readonly fault: Broken }> {
  const kind = kindOf(fault)
  let [best, last] = [input, fault]
  let runs = 0
  const end = Date.now() + MAX_TIME
  for (let isSmaller = true; isSmaller && runs < MAX_RUNS; ) {
    isSmaller = false
    for (const candidate of smaller(best)) {
      if (++runs > MAX_RUNS || Date.now() > end) break
      const again = await broken(target, candidate, sizeOf(candidate) ?? 0)
      if (again === undefined || kindOf(again) !== kind) continue
      ;[best, last] = [candidate, again]
      isSmaller = true
      break
    }
  }
  return { input: best, fault: last }
}

/** Yields smaller inputs, from large steps to small ones. */
function* smaller(input: Json): Generator<Json> {
  const places = [...placesIn(input)]
  for (const { place, value } of places) {
    if (place.length > 0) yield without(input, place)
    if (typeof value === 'string' && value.length > 1)
      for (const part of halves(value)) yield withValue(input, place, part)
    if (Array.isArray(value) && value.length > 2)
      for (const part of halves(value as readonly Json[])) yield withValue(input, place, part)
  }
}

function* halves<T extends string | readonly Json[]>(value: T): Generator<T> {
  for (let length = value.length >> 1; length >= 1; length >>= 1) {
    yield value.slice(0, value.length - length) as T
    yield value.slice(length) as T
  }
}

/** Yields the values inside an input with their paths, outer ones first, at most a few hundred. */
function* placesIn(input: Json): Generator<{ readonly place: readonly (string | number)[]; readonly value: Json }> {
  const open: { place: readonly (string | number)[]; value: Json }[] = [{ place: [], value: input }]
  for (let index = 0; index < open.length && index < 400; index++) {
    const { place, value } = open[index]!
    yield { place, value }
    if (place.length > 60) continue
    if (Array.isArray(value))
      for (const [item, inner] of value.entries()) open.push({ place: [...place, item], value: inner })
    else if (isObject(value))
      for (const [name, inner] of Object.entries(value)) open.push({ place: [...place, name], value: inner })
  }
}

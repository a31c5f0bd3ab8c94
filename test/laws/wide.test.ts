import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import { isObject, type Json, type JsonObject } from '../../src/canonical/node.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { prepare } from '../../src/gateway/prepare.ts'
import { READERS } from '../../src/ingress/index.ts'
import { targetOf } from '../thoughts/stage.ts'
import { handedTo } from './support.ts'
import { WIRES } from './wires.ts'

/** Number of fields or items that exceeds the stack that `withLittleStack` leaves. */
const WIDTH = 15_000
const FIELDS = Object.fromEntries(
  Array.from({ length: WIDTH }, (_, index) => [`f${index}`, index % 9 === 0 ? null : 1]),
)

/**
 * Runs with nine tenths of the stack used up, so that a tenth of the width shows whether items are put on the stack.
 */
function withLittleStack(run: () => void): void {
  let deepest = 0
  let begun = false
  const descend = (depth: number): void => {
    try {
      deepest = depth
      descend(depth + 1)
    } catch (thrown) {
      if (begun || depth > deepest * 0.9) throw thrown
    }
    if (begun) return
    begun = true
    run()
  }
  descend(0)
}

type Steps = readonly (string | number)[]

/** Returns the value with a very wide object or list at the end of the path. */
function widened(value: Json, [step, ...steps]: Steps): Json {
  if (step !== undefined) {
    const inner = widened((value as JsonObject)[step]!, steps)
    return Array.isArray(value) ? value.with(step as number, inner) : { ...(value as JsonObject), [step]: inner }
  }
  if (isObject(value)) return { ...value, ...FIELDS }
  const items = value as readonly Json[]
  return Array.from({ length: WIDTH }, (_, index) => items[index % items.length] ?? 'x')
}

function* places(value: Json, steps: Steps = []): Generator<Steps> {
  if (typeof value !== 'object' || value === null) return
  yield steps
  for (const [key, inner] of Object.entries(value))
    yield* places(inner as Json, [...steps, Array.isArray(value) ? Number(key) : key])
}

/** Returns one sample for each position of the format's bodies that can be wide. All indexes count as one. */
function wideBodies(format: string): [place: string, path: string, body: JsonObject][] {
  const found = new Map<string, [string, string, JsonObject]>()
  for (const wire of fc.sample(WIRES[format]!.request, { numRuns: 30, seed: 30 }))
    for (const steps of places(wire.body)) {
      const place = steps.map(step => (typeof step === 'number' ? '#' : step)).join('.')
      if (steps.length <= 3 && !found.has(place) && found.size < 25)
        found.set(place, [place, wire.path, widened(wire.body, steps) as JsonObject])
    }
  return [...found.values()]
}

/** Runs a step. An answer or a refusal is fine, but not a stack overflow. */
function settled<T>(make: () => T, what: string): T | undefined {
  try {
    return make()
  } catch (thrown) {
    expect(thrown, what).toBeInstanceOf(GatewayError)
    return undefined
  }
}

const formats = Object.keys(READERS).filter(format => READERS[format]!.request !== undefined)
const written = Object.keys(WRITERS).filter(format => WRITERS[format]!.request !== undefined)

/** Returns the format itself, unless only callers use it. */
const own = (format: string): readonly string[] => (written.includes(format) ? [format] : [])

describe('wide is not deep: a body of any width is read and written with little stack', () => {
  it.each(formats)('%s', format => {
    withLittleStack(() => {
      for (const [index, [place, path, body]] of wideBodies(format).entries()) {
        const request = settled(() => READERS[format]!.request!({ path, query: {}, headers: {}, body }), place)
        if (request === undefined) continue
        for (const to of [...own(format), written[index % written.length]!]) {
          const target = targetOf({ caller: format, upstream: to })
          settled(() => prepare(handedTo(to, request), target), `${place} to ${to}`)
        }
      }
    })
  })
})

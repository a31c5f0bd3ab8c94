import type fc from 'fast-check'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { WireAnswer, WireRequest } from '../../src/canonical/wire.ts'
import type { Work } from '../../src/canonical/work.ts'
import { READERS } from '../../src/ingress/index.ts'
import { asked } from './arbitrary-result.ts'
import { formatsWith } from './support.ts'
import { WORKS } from './works.ts'

interface Wires {
  readonly request: fc.Arbitrary<WireRequest>
  readonly result: fc.Arbitrary<JsonObject>
  /** Answers to other work than the format's main work, if they look different. */
  readonly answers?: { readonly [W in Work]?: fc.Arbitrary<JsonObject> }
  /** Whole answers that are not JSON. */
  readonly raw?: fc.Arbitrary<WireAnswer>
}

/** Generators of wire values, one module per registered format. A format without a module fails here. */
export const WIRES: { readonly [format: string]: Wires } = Object.fromEntries(
  await Promise.all(Object.keys(READERS).map(async format => [format, (await import(`./wire/${format}.ts`)) as Wires])),
)

/** Every format that reads answers, with the answers to each kind of work that look different, and their requests. */
export const ANSWERS: readonly (readonly [name: string, format: string, fc.Arbitrary<JsonObject>, CanonicalRequest])[] =
  formatsWith('result').flatMap(format => {
    const { result, answers = {}, raw } = WIRES[format]!
    if (raw !== undefined) return []
    const others = Object.entries(answers).map(
      ([work, answer]) => [`${format}: ${work}`, format, answer, WORKS[work as Work]!.asked] as const,
    )
    return [[format, format, result, asked] as const, ...others]
  })

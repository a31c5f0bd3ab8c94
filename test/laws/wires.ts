import type fc from 'fast-check'
import type { WireRequest } from '../../src/canonical/exchange.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { READERS } from '../../src/ingress/index.ts'

interface Wires {
  readonly request: fc.Arbitrary<WireRequest>
  readonly result: fc.Arbitrary<JsonObject>
}

/** Generators of wire values, one module per registered format: a format without one fails here. */
export const WIRES: { readonly [format: string]: Wires } = Object.fromEntries(
  await Promise.all(Object.keys(READERS).map(async format => [format, (await import(`./wire/${format}.ts`)) as Wires])),
)

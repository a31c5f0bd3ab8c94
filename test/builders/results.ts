import type { Part } from '../../src/canonical/content.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'
import type { WireAnswer } from '../../src/canonical/wire.ts'

/** Returns a canonical result of one candidate that ended with `stop`. */
export const result = (content: readonly Part[], more: Partial<CanonicalResult> = {}): CanonicalResult => ({
  ...{ id: 'r1', model: 'm' },
  candidates: [{ content, finish: { reason: 'stop' } }],
  ...more,
})

/** Returns the parts of a result's first candidate. */
export const partsOf = (result: CanonicalResult): readonly Part[] => result.candidates[0]?.content ?? []

/** Returns a wire result with status 200. */
export const wireAnswer = (body: JsonObject): WireAnswer => ({ status: 200, headers: {}, body })

/** Fields that the gateway adds if an upstream's answer lacks them. */
export const RESPONSE_HEAD = { id: 'id-of-the-gateway', model: 'm', createdAt: 1_700_000_000 }

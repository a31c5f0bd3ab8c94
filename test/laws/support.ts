import { expect } from 'vitest'
import type { BufferedBytes } from '../../src/canonical/bytes.ts'
import type { Part } from '../../src/canonical/content.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { fitnessOf } from '../../src/formats/index.ts'
import { READERS } from '../../src/ingress/index.ts'

export { holds, holdsForPair, RUNS, USUAL_RUNS } from './runs.ts'

type Direction = 'request' | 'result' | 'events' | 'error'

/** Converts a value as JSON does. Undefined fields and prototypes do not count. */
export const plain = <T>(value: T): T => (value === undefined ? value : (JSON.parse(JSON.stringify(value)) as T))

export const same = (got: unknown, want: unknown): void => {
  expect(plain(got)).toEqual(plain(want))
}

/** Returns those formats of `formatsWith` that are made for conversations. */
export const conversing = (direction: Direction): string[] =>
  formatsWith(direction).filter(format => fitnessOf(format, 'conversation') === 'primary')

/** Returns the formats whose reader and writer both have this direction. */
export const formatsWith = (direction: Direction): string[] =>
  Object.keys(READERS).filter(
    format => READERS[format]![direction] !== undefined && WRITERS[format]?.[direction] !== undefined,
  )

/** Returns the request as the gateway passes it to a writer. Few formats take raw bytes. */
export function handedTo(format: string, request: CanonicalRequest): CanonicalRequest {
  if (WRITERS[format]!.bytes !== undefined) return request
  return { ...request, messages: request.messages.map(one => ({ ...one, content: one.content.map(inBase64) })) }
}

function inBase64(part: Part): Part {
  if (part.type !== 'media' || part.source.type !== 'bytes') return part
  const { mediaType, bytes } = part.source
  return { ...part, source: { type: 'base64', mediaType, data: (bytes as BufferedBytes).toJSON() } }
}

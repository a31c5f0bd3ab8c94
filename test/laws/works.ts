import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import type fc from 'fast-check'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'
import type { Work } from '../../src/canonical/work.ts'
import { FORMAT_FACTS } from '../../src/formats/index.ts'
import { formatsWith } from './support.ts'

/** Requests and answers of one kind of work, as any format's reader could make them. */
interface WorkValues {
  readonly request: fc.Arbitrary<CanonicalRequest>
  readonly result: fc.Arbitrary<CanonicalResult>
  /** A request that fits the answers. */
  readonly asked: CanonicalRequest
  /** Answers that once broke a law. */
  readonly examples?: readonly CanonicalResult[]
}

const FOLDER = join(import.meta.dirname, 'work')

/** Generators, one module per kind of work. */
export const WORKS: { readonly [W in Work]?: WorkValues } = Object.fromEntries(
  await Promise.all(
    readdirSync(FOLDER).map(async file => [basename(file, '.ts'), (await import(join(FOLDER, file))) as WorkValues]),
  ),
)

/** Work whose answers are never streamed. */
const AT_ONCE: ReadonlySet<Work> = new Set(['embedding', 'ranking', 'count', 'compaction', 'video'])

/**
 * Returns every format with every kind of work that its upstreams do, if reader and writer both have this direction.
 */
export const jobsWith = (direction: 'request' | 'result' | 'events'): (readonly [format: string, work: Work])[] =>
  formatsWith(direction).flatMap(format =>
    FORMAT_FACTS.get(format)!
      .does.filter(work => WORKS[work] !== undefined && !(direction === 'events' && AT_ONCE.has(work)))
      .map(work => [format, work] as const),
  )

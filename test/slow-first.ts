import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { ROOT } from '../src/root.ts'

/**
 * Files that take minutes on a busy machine, slowest first. `.ci/run` prints the slowest of a run. Vitest starts large
 * files first, and most of these are small: one that starts last leaves the other workers idle.
 */
const SLOW = [
  'test/laws/linear.test.ts',
  'test/video/kill.test.ts',
  'test/console/models.test.ts',
  'test/console/start/start.test.ts',
  'test/console/keys.test.ts',
  'test/console/channels.test.ts',
  'test/lifecycle/hostile-start.test.ts',
  'test/laws/remembered-thoughts.test.ts',
  'test/console/translator.test.ts',
  'test/laws/relayed-streams.test.ts',
  'test/console/traffic.test.ts',
  'test/console/usage.test.ts',
  'test/kit/translations.test.ts',
  'test/instances/fleet.test.ts',
  'test/console/unlucky.test.ts',
  'test/instances/chaos.test.ts',
  'test/store/cluster/workers.test.ts',
  'test/console/guessing.test.ts',
  'test/faults/hostile-media.test.ts',
  'test/kit/conformance/saboteurs.test.ts',
  'test/laws/wrong-types.test.ts',
  'test/laws/regular-expressions.test.ts',
  'test/golden.test.ts',
  'test/kit/recordings/match-key.test.ts',
]

const RANKS: ReadonlyMap<string, number> = new Map(SLOW.map((path, rank) => [path, rank]))

const rankOf = ({ moduleId }: TestSpecification): number => RANKS.get(relative(ROOT, moduleId)) ?? SLOW.length

/** Starts the slow files first, and the others in Vitest's own order. */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((one, other) => rankOf(one) - rankOf(other))
  }
}

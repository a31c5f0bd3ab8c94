import type { TestedMutant } from './mutant.ts'
import type { Slice } from './slices.ts'

/** Counts of mutants. Those that stop the program before a test runs are not counted. */
export interface Score {
  readonly detected: number
  readonly survived: number
  /** Share of detected mutants, in percent. NaN without mutants. */
  readonly percent: number
  /** Bounds within which the room's score is with a probability of 95 %. Absent if the whole room was mutated. */
  readonly bounds?: readonly [low: number, high: number]
}

export const isDetected = ({ status }: TestedMutant): boolean => status === 'Killed' || status === 'Timeout'
export const isSurvivor = ({ status }: TestedMutant): boolean => status === 'Survived' || status === 'NoCoverage'

export function scoreOf(mutants: readonly TestedMutant[], sample?: readonly Slice[]): Score {
  const [detected, survived] = [mutants.filter(isDetected).length, mutants.filter(isSurvivor).length]
  const percent = percentOf(detected, survived)
  if (sample === undefined || detected + survived === 0) return { detected, survived, percent }
  return { detected, survived, percent, bounds: boundsOf(mutants, sample) }
}

const percentOf = (detected: number, survived: number): number => (100 * detected) / (detected + survived)

/** Number of samples that are drawn from the sample to see how much scores vary. */
const REDRAWS = 2000

/**
 * Computes bounds by a bootstrap over slices. Mutants of one slice share their fate, so that counting them one by one
 * would make the bounds too narrow.
 */
function boundsOf(mutants: readonly TestedMutant[], sample: readonly Slice[]): readonly [number, number] {
  const counts = sample.map(slice => {
    const inside = mutants.filter(one => isInside(one, slice))
    return [inside.filter(isDetected).length, inside.filter(isSurvivor).length] as const
  })
  const random = numbers()
  const scores: number[] = []
  while (scores.length < REDRAWS) {
    let [detected, survived] = [0, 0]
    for (let index = 0; index < counts.length; index++) {
      const [more, less] = counts[Math.floor(random() * counts.length)]!
      detected += more
      survived += less
    }
    scores.push(detected + survived === 0 ? 100 : percentOf(detected, survived))
  }
  scores.sort((a, b) => a - b)
  return [scores[Math.floor(REDRAWS * 0.025)]!, scores[Math.ceil(REDRAWS * 0.975) - 1]!]
}

const isInside = ({ file, start }: TestedMutant, slice: Slice): boolean =>
  file === slice.file && start.line >= slice.from && start.line <= slice.to

/** Returns a generator of equal numbers in each run (mulberry32). */
function numbers(): () => number {
  let state = 1
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), 1 | state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32
  }
}

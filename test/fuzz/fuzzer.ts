import type { Json } from '../../src/canonical/node.ts'
import { type Reached, wordsIn } from './coverage.ts'
import { Dice } from './dice.ts'
import { type Finding, kindOf, sizeOf } from './finding.ts'
import { mutated } from './mutate.ts'
import { broken } from './oracles.ts'
import { shrunk } from './shrink.ts'
import type { Broken, Target } from './target.ts'

/** What a run of one target did. */
export interface Outcome {
  readonly executions: number
  readonly seeds: number
  /** Number of inputs that reached something new. */
  readonly kept: number
  readonly findings: readonly Finding[]
}

export interface Bounds {
  readonly seed: number
  /** Ends the run, by the numbers of inputs and findings so far. */
  isOver(executions: number, findings: number): boolean
  /** Is called before each input runs, so that an input that never ends is known. */
  running?(input: Json): void
}

/** Maximum size of an input, in characters. */
const MAX_SIZE = 400_000
/** Maximum size of an input that is kept for further mutations, in characters. */
const MAX_KEPT = 20_000

/**
 * Runs a target on its seeds and then on mutations of those inputs that reached new blocks, until the bounds end it.
 */
export async function fuzz(target: Target, reached: Reached, { seed, isOver, running }: Bounds): Promise<Outcome> {
  const dice = new Dice(seed)
  const corpus: Json[] = []
  const findings = new Map<string, Finding>()
  let executions = 0

  const execute = async (input: Json, isSeed: boolean): Promise<void> => {
    const size = sizeOf(input)
    if (size === undefined || size > MAX_SIZE) return
    executions++
    running?.(input)
    reached.start()
    const fault = await broken(target, input, size)
    const isNew = reached.add()
    if (fault !== undefined) await found(input, fault)
    else if (isSeed || (isNew && size <= MAX_KEPT)) corpus.push(input)
  }

  const found = async (input: Json, fault: Broken): Promise<void> => {
    const kind = kindOf(fault)
    if (findings.has(kind)) return
    const { input: small, fault: last } = await shrunk(target, input, fault)
    findings.set(kind, { target: target.name, law: last.law, message: last.message, input: small })
  }

  const seeds = target.seeds(seed)
  for (const input of seeds) await execute(input, true)
  const words = wordsIn(target.files)
  const other = (): Json => dice.one(corpus)
  while (corpus.length > 0 && !isOver(executions, findings.size)) {
    // Newer inputs are tried more often than those that have been tried for long.
    const base = dice.oneIn(2)
      ? dice.one(corpus)
      : corpus[corpus.length - 1 - dice.below(Math.ceil(corpus.length / 4))]!
    await execute(mutated(base, { dice, words, other }), false)
  }
  return { executions, seeds: seeds.length, kept: corpus.length, findings: [...findings.values()] }
}

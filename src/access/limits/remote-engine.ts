import type { LimitEngine, LimitState, LimitStep } from './engine.ts'
import type { SharedCounts } from './shared-engine.ts'

/** Has steps counted elsewhere, in their order; as many states come back. */
export type AskSteps = (steps: readonly LimitStep[]) => Promise<readonly LimitState[]>

interface Waiting {
  readonly step: LimitStep
  readonly taken: PromiseWithResolvers<LimitState>
}

/** The counts of the primary process: the steps of one turn of the event loop are asked for together. */
export class RemoteCounts implements SharedCounts {
  readonly isUp = true
  private readonly ask: AskSteps
  private readonly flush: () => void
  private waiting: Waiting[] = []

  constructor(ask: AskSteps) {
    this.ask = ask
    this.flush = () => void this.send()
  }

  step(step: LimitStep): Promise<LimitState> {
    const taken = Promise.withResolvers<LimitState>()
    if (this.waiting.push({ step, taken }) === 1) setImmediate(this.flush)
    return taken.promise
  }

  probe(): Promise<unknown> {
    return this.ask([])
  }

  /** The primary sees by itself which worker ended. */
  leaveAll(): void {}

  close(): void {}

  private async send(): Promise<void> {
    const sent = this.waiting
    this.waiting = []
    try {
      const states = await this.ask(sent.map(({ step }) => step))
      if (states.length !== sent.length) throw new Error(`${sent.length} steps were asked for, ${states.length} taken`)
      for (const [index, { taken }] of sent.entries()) taken.resolve(states[index]!)
    } catch (thrown) {
      for (const { taken } of sent) taken.reject(thrown)
    }
  }
}

/** Answers what the `RemoteCounts` of a worker ask for. */
export async function takeSteps(engine: LimitEngine, steps: readonly LimitStep[]): Promise<LimitState[]> {
  const states: LimitState[] = []
  for (const step of steps) states.push(await engine.step(step))
  return states
}

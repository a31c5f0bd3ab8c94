import type { LimitEngine, LimitState, LimitStep } from './engine.ts'
import type { SharedCounts } from './shared-engine.ts'

/** Has steps counted elsewhere, in their order; as many states come back. */
export type AskSteps = (steps: readonly LimitStep[]) => Promise<readonly LimitState[]>

interface Waiting {
  readonly step: LimitStep
  readonly taken: PromiseWithResolvers<LimitState>
}

/** Milliseconds for an answer of the primary. */
const PATIENCE = 1000
/** Milliseconds that a step waits for company where nobody waits for it: most are sent with a later request's. */
const NO_HURRY = 5

/** The counts of the primary process: the steps of one turn of the event loop are asked for together. */
export class RemoteCounts implements SharedCounts {
  readonly isUp = true
  readonly takesDoubtful = true
  private readonly ask: AskSteps
  private readonly flush: () => void
  private waiting: Waiting[] = []
  private isSoon = false
  private timer: NodeJS.Timeout | undefined

  constructor(ask: AskSteps) {
    this.ask = ask
    this.flush = () => void this.send()
  }

  step(step: LimitStep): Promise<LimitState> {
    const taken = Promise.withResolvers<LimitState>()
    this.waiting.push({ step, taken })
    if (step.enforced || step.leave !== undefined) this.soon()
    else this.timer ??= setTimeout(this.flush, NO_HURRY)
    return taken.promise
  }

  probe(): Promise<unknown> {
    return within(PATIENCE, this.ask([]))
  }

  mayBeCounted(): boolean {
    return true
  }

  private soon(): void {
    if (this.isSoon) return
    this.isSoon = true
    setImmediate(this.flush)
  }

  /** The primary sees by itself which worker ended. */
  leaveAll(): void {}

  close(): void {
    void this.send()
  }

  private async send(): Promise<void> {
    const sent = this.waiting
    this.waiting = []
    this.isSoon = false
    clearTimeout(this.timer)
    this.timer = undefined
    if (sent.length === 0) return
    try {
      const states = await within(PATIENCE, this.ask(sent.map(({ step }) => step)))
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
  for (const step of steps) {
    const state = engine.step(step)
    states.push(state instanceof Promise ? await state : state)
  }
  return states
}

/** What a promise settles to; rejects where that takes too many milliseconds, unless this process was too busy to see. */
function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new Error(`no answer within ${milliseconds} ms`))
    const timer = setTimeout(() => setImmediate(late), milliseconds)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

import type { LimitEngine, LimitState, LimitStep } from './engine.ts'
import type { SharedCounts } from './shared-engine.ts'

/** Sends steps to the primary process, which applies them in order and returns one state per step. */
export type AskSteps = (steps: readonly LimitStep[]) => Promise<readonly LimitState[]>

/** A step waiting to be sent. */
interface QueuedStep {
  readonly step: LimitStep
  readonly outcome: PromiseWithResolvers<LimitState>
}

/** Timeout for an answer from the primary, in milliseconds. */
const TIMEOUT_MS = 1000
/** Delay of steps that nobody waits for, in milliseconds. Most of them share a message with a later request. */
const UNAWAITED_DELAY_MS = 5

/** Counts in the primary process. Steps of the same turn of the event loop share a message. */
export class PrimaryCounts implements SharedCounts {
  readonly isUp = true
  readonly acceptsPossiblyCounted = true
  private readonly ask: AskSteps
  private readonly flush: () => void
  private queue: QueuedStep[] = []
  private isSendScheduled = false
  private timer: NodeJS.Timeout | undefined

  constructor(ask: AskSteps) {
    this.ask = ask
    this.flush = () => void this.send()
  }

  step(step: LimitStep): Promise<LimitState> {
    const outcome = Promise.withResolvers<LimitState>()
    this.queue.push({ step, outcome })
    if (step.enforced || step.leave !== undefined) this.soon()
    else this.timer ??= setTimeout(this.flush, UNAWAITED_DELAY_MS)
    return outcome.promise
  }

  probe(): Promise<unknown> {
    return withTimeout(TIMEOUT_MS, this.ask([]))
  }

  mayBeCounted(): boolean {
    return true
  }

  private soon(): void {
    if (this.isSendScheduled) return
    this.isSendScheduled = true
    setImmediate(this.flush)
  }

  /** Does nothing, because the primary itself notices that a worker ended. */
  leaveAll(): void {}

  close(): void {
    void this.send()
  }

  private async send(): Promise<void> {
    const batch = this.queue
    this.queue = []
    this.isSendScheduled = false
    clearTimeout(this.timer)
    this.timer = undefined
    if (batch.length === 0) return
    try {
      const states = await withTimeout(TIMEOUT_MS, this.ask(batch.map(({ step }) => step)))
      if (states.length !== batch.length)
        throw new Error(`sent ${batch.length} steps, received ${states.length} states`)
      for (const [index, { outcome }] of batch.entries()) outcome.resolve(states[index]!)
    } catch (thrown) {
      for (const { outcome } of batch) outcome.reject(thrown)
    }
  }
}

/** Applies the steps of a worker in the primary. */
export async function takeSteps(engine: LimitEngine, steps: readonly LimitStep[]): Promise<LimitState[]> {
  const states: LimitState[] = []
  for (const step of steps) {
    const state = engine.step(step)
    states.push(state instanceof Promise ? await state : state)
  }
  return states
}

/**
 * Adds a timeout to a promise. A busy event loop does not count as a timeout, because the answer may already have
 * arrived.
 */
function withTimeout<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onTimeout = (): void => reject(new Error(`no answer within ${milliseconds} ms`))
    const timer = setTimeout(() => setImmediate(onTimeout), milliseconds)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

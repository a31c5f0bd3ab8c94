import type fc from 'fast-check'
import { type LimitState, type LimitStep, MemoryEngine } from '../../../src/accounts/limits/engine.ts'
import { type SharedCounts, SharedEngine } from '../../../src/accounts/limits/shared-engine.ts'
import type { Failure } from '../failing.ts'

class Away extends Error {
  readonly isCounted: boolean

  constructor(isCounted: boolean) {
    super('the primary does not answer')
    this.isCounted = isCounted
  }
}

/** The counts of the primary process. Messages to it and its answers arrive in any order. */
export class Primary {
  readonly counts: MemoryEngine
  /** How the next steps fail. */
  readonly failures: (Failure | undefined)[]
  /** Refunds that were counted although their answers were lost, and that may therefore be counted twice. */
  repeatable = 0
  private readonly scheduler: fc.Scheduler
  private readonly now: () => number

  constructor(scheduler: fc.Scheduler, failures: readonly (Failure | undefined)[], now: () => number) {
    this.scheduler = scheduler
    this.failures = [...failures]
    this.now = now
    this.counts = new MemoryEngine(now)
  }

  /** The engine of a worker. */
  worker(): SharedEngine {
    const counts: SharedCounts = {
      ...{ isUp: true, acceptsPossiblyCounted: true, leaveAll() {}, close() {} },
      step: step => this.step(step),
      mayBeCounted: thrown => (thrown as Away).isCounted,
      probe: () => this.scheduler.schedule(Promise.resolve(), 'probe'),
    }
    return new SharedEngine(counts, { local: new MemoryEngine(this.now) })
  }

  private async step(step: LimitStep): Promise<LimitState> {
    await this.scheduler.schedule(Promise.resolve(), 'message')
    const failure = this.failures.shift()
    if (failure === 'before') throw new Away(false)
    const state = this.counts.step(step)
    await this.scheduler.schedule(Promise.resolve(), 'answer')
    if (failure !== 'after') return state
    this.repeatable += Math.max(0, -step.cost)
    throw new Away(true)
  }
}

import type { LimitEngine, LimitState, LimitStep, MemoryEngine } from './engine.ts'
import { PendingSteps } from './pending-steps.ts'
import { Reachability } from './reachability.ts'

/** Where several processes count together. Nothing waits for them without an end. */
export interface SharedCounts {
  /** Whether a step could be sent now. */
  readonly isUp: boolean
  /** Whether they take steps that Redis may have counted already. */
  readonly takesDoubtful: boolean
  /** Rejects where the step was not counted, or may not have been. */
  step(step: LimitStep): Promise<LimitState>
  /** Whether a step that was rejected with this may have been counted. */
  mayBeCounted(thrown: unknown): boolean
  /** Rejects while steps could not be counted. */
  probe(): Promise<unknown>
  leaveAll(owner: string): void
  close(): void
}

export interface SharedOptions {
  /** Counts while the others cannot be reached. */
  readonly local: MemoryEngine
  /** Each process counts for itself from now on. */
  readonly onFault?: (thrown: unknown) => void
  readonly onRecovery?: () => void
}

/**
 * Counts together with other processes; while that fails or takes too long, in this one alone. Afterwards the others get
 * what was spent meanwhile, how low the minute's allowances are, and which places are free or taken.
 */
export class SharedEngine implements LimitEngine {
  /** Steps that were counted here because the others could not be reached. */
  missed = 0
  private readonly counts: SharedCounts
  private readonly local: MemoryEngine
  private readonly pending: PendingSteps
  private readonly reach: Reachability

  constructor(counts: SharedCounts, { local, onFault, onRecovery }: SharedOptions) {
    this.counts = counts
    this.local = local
    this.pending = new PendingSteps(local)
    this.reach = new Reachability({ probe: () => this.settle(), onFault, onRecovery })
  }

  /** Counts are shared, as far as is known. */
  get isShared(): boolean {
    return this.reach.isUp
  }

  step(step: LimitStep): LimitState | Promise<LimitState> {
    if (this.isShared && !this.counts.isUp) this.reach.failed(NOT_CONNECTED)
    if (!this.isShared) return this.stepHere(step)
    return step.isDoubtful === true && !this.counts.takesDoubtful ? this.stepHere(step) : this.stepTogether(step)
  }

  leaveAll(owner: string): void {
    this.pending.leaveAll(owner)
    this.counts.leaveAll(owner)
    this.local.leaveAll(owner)
  }

  close(): void {
    this.reach.close()
    this.counts.close()
    this.local.close()
  }

  private async stepTogether(step: LimitStep): Promise<LimitState> {
    if (this.pending.returned(step.leave)) this.local.step(leaving(step))
    try {
      return await this.counts.step(step)
    } catch (thrown) {
      this.reach.failed(thrown)
      const isDoubtful = this.counts.mayBeCounted(thrown)
      if (isDoubtful) this.pending.doubt(step)
      return this.stepHere(step, isDoubtful)
    }
  }

  /** @param mayBeCounted the others may have counted it, and only the answer is missing. */
  private stepHere(step: LimitStep, mayBeCounted = step.isDoubtful === true): LimitState {
    this.missed++
    const state = this.local.step(step)
    // Of a step that was refused, or is to be repeated, nothing happened.
    if (state.refused === undefined && !state.unknown) this.pending.add(step, mayBeCounted)
    return state
  }

  /** Has the others count what was counted here. */
  private async settle(): Promise<void> {
    const { counts, pending } = this
    if (!counts.isUp) throw NOT_CONNECTED
    await counts.probe()
    for (;;) {
      if (!counts.isUp) throw NOT_CONNECTED
      const step = pending.next()
      if (step === undefined) break
      await counts.step(step).catch((thrown: unknown) => {
        pending.putBack(step, counts.mayBeCounted(thrown))
        throw thrown
      })
    }
    // The next outage begins with what the others count by then.
    this.local.close()
  }
}

/** The part of a step that gives a place back. */
const leaving = ({ key, limits, leave }: LimitStep): LimitStep => ({
  ...{ key, limits, requests: 0, tokens: 0, cost: 0, enforced: false },
  ...(leave === undefined ? {} : { leave }),
})

const NOT_CONNECTED = new Error('there is no connection')

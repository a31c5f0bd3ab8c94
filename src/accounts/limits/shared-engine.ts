import { type LimitEngine, type LimitState, type LimitStep, type MemoryEngine, NO_AMOUNTS } from './engine.ts'
import { PendingSteps } from './pending-steps.ts'
import { NOT_CONNECTED, Reachability } from './reachability.ts'

/** Counts that several processes share. Every call has a timeout. */
export interface SharedCounts {
  /** True if a step could be sent now. */
  readonly isUp: boolean
  /** True if the engine accepts steps that Redis may already have counted. */
  readonly acceptsPossiblyCounted: boolean
  /** Applies a step. Rejects if the step was not counted, or may not have been counted. */
  step(step: LimitStep): Promise<LimitState>
  /** Returns true if a step that was rejected with this error may have been counted. */
  mayBeCounted(thrown: unknown): boolean
  /** Rejects while steps cannot be counted. */
  probe(): Promise<unknown>
  leaveAll(owner: string): void
  close(): void
}

/** Options: the local fallback, and the listeners. */
export interface SharedOptions {
  /** Counts while the shared counts are unreachable. */
  readonly local: MemoryEngine
  /** Called when counts are no longer shared. */
  readonly onFault?: (thrown: unknown) => void
  readonly onRecovery?: () => void
}

/**
 * Uses shared counts, but counts in this process while the shared counts fail or time out, and afterwards transfers the
 * spend, the remaining quota per minute and the slots.
 */
export class SharedEngine implements LimitEngine {
  /** Number of steps counted in this process because the shared counts were unreachable. */
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

  /** True if counts are shared, as far as is known. */
  get isShared(): boolean {
    return this.reach.isUp
  }

  step(step: LimitStep): LimitState | Promise<LimitState> {
    if (this.isShared && !this.counts.isUp) this.reach.failed(NOT_CONNECTED)
    if (!this.isShared) return this.stepLocally(step)
    return step.isPossiblyCounted === true && !this.counts.acceptsPossiblyCounted
      ? this.stepLocally(step)
      : this.stepTogether(step)
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
    if (this.pending.forgetSlot(step.leave)) this.local.step(releaseOf(step))
    try {
      return await this.counts.step(step)
    } catch (thrown) {
      this.reach.failed(thrown)
      const isPossiblyCounted = this.counts.mayBeCounted(thrown)
      if (isPossiblyCounted) this.pending.releasePossiblyCounted(step)
      return this.stepLocally(step, isPossiblyCounted)
    }
  }

  /** @param mayBeCounted true if the shared counts may include the step although no answer arrived. */
  private stepLocally(step: LimitStep, mayBeCounted = step.isPossiblyCounted === true): LimitState {
    this.missed++
    const state = this.local.step(step)
    // A refused or repeated step changed nothing.
    if (state.refused === undefined && !state.unknown) this.pending.add(step, mayBeCounted)
    else if (mayBeCounted) this.pending.refund(step)
    return state
  }

  /** Transfers the counts of this process to the shared counts. */
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
    // Forget the local counts, because the next outage starts from the shared levels.
    this.local.close()
    // A step that was counted here from now on would not be transferred.
    this.reach.recovered()
  }
}

/** Returns the part of a step that releases a slot. */
const releaseOf = ({ key, limits, leave }: LimitStep): LimitStep => ({
  ...{ ...NO_AMOUNTS, key, limits },
  ...(leave === undefined ? {} : { leave }),
})

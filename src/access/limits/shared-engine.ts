import type { LimitEngine, LimitState, LimitStep, MemoryEngine } from './engine.ts'
import { PendingSteps } from './pending-steps.ts'

/** Where several processes count together. Nothing waits for them without an end. */
export interface SharedCounts {
  /** Whether a step could be sent now. */
  readonly isUp: boolean
  /** Rejects where the step may not have been counted. */
  step(step: LimitStep): Promise<LimitState>
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

/** Milliseconds between two tries to count together again. */
const PROBE = 500

/**
 * Counts together with other processes; while that fails or takes too long, in this one alone. What was spent meanwhile,
 * and places that were given back, are sent to the others afterwards.
 */
export class SharedEngine implements LimitEngine {
  /** Steps that were counted here because the others could not be reached. */
  missed = 0
  private readonly counts: SharedCounts
  private readonly options: SharedOptions
  private readonly pending = new PendingSteps()
  private readonly probing: () => void
  private timer: NodeJS.Timeout | undefined
  private closed = false

  constructor(counts: SharedCounts, options: SharedOptions) {
    this.counts = counts
    this.options = options
    this.probing = () => void this.probe()
  }

  /** Counts are shared, as far as is known. */
  get isShared(): boolean {
    return this.timer === undefined
  }

  step(step: LimitStep): LimitState | Promise<LimitState> {
    if (this.isShared && !this.counts.isUp) this.failed(NOT_CONNECTED)
    return this.isShared ? this.stepTogether(step) : this.stepHere(step)
  }

  leaveAll(owner: string): void {
    this.counts.leaveAll(owner)
    this.options.local.leaveAll(owner)
  }

  close(): void {
    this.closed = true
    clearTimeout(this.timer)
    this.counts.close()
    this.options.local.close()
  }

  private async stepTogether(step: LimitStep): Promise<LimitState> {
    const { local } = this.options
    if (this.pending.returned(step.leave)) local.step(leaving(step))
    try {
      return await this.counts.step(step)
    } catch (thrown) {
      this.failed(thrown)
      this.pending.doubt(step)
      return this.stepHere(step, true)
    }
  }

  /** @param mayBeCounted the others may have counted it, and only the answer is missing. */
  private stepHere(step: LimitStep, mayBeCounted = false): LimitState {
    this.missed++
    const state = this.options.local.step(step)
    // Of a step that was refused, or is to be repeated, nothing happened.
    if (state.refused === undefined && !state.unknown) this.pending.add(step, mayBeCounted)
    return state
  }

  private failed(thrown: unknown): void {
    if (!this.isShared || this.closed) return
    this.options.onFault?.(thrown)
    this.wait()
  }

  private wait(): void {
    this.timer = setTimeout(this.probing, PROBE).unref()
  }

  private async probe(): Promise<void> {
    const { counts, pending, options } = this
    try {
      if (!counts.isUp) throw NOT_CONNECTED
      await counts.probe()
      for (let step = pending.first(); step !== undefined; step = pending.first()) {
        await counts.step(step)
        pending.paid(step)
      }
      this.timer = undefined
      options.onRecovery?.()
    } catch {
      if (!this.closed) this.wait()
    }
  }
}

/** The part of a step that gives a place back. */
const leaving = ({ key, limits, leave }: LimitStep): LimitStep => ({
  ...{ key, limits, requests: 0, tokens: 0, cost: 0, enforced: false },
  ...(leave === undefined ? {} : { leave }),
})

const NOT_CONNECTED = new Error('there is no connection')

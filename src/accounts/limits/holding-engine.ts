import type { LimitEngine, LimitState, LimitStep } from './engine.ts'
import { type Adjustment, HeldQuota } from './held-quota.ts'

/** Time between two adjustments of what is held, in milliseconds. */
const ADJUST_MS = 50

/**
 * Holds quota of busy keys, so that most of their steps need no message to the shared counts. Quota is taken there
 * before it is used, and only while every limit of the key has ample room: slots and budgets are never exceeded, and
 * another process is refused too early by at most a sixteenth of what was left, for at most two adjustments. A quota per
 * minute refills while some of it is held, so that a burst may be larger by what the key used in two adjustments.
 */
export class HoldingEngine implements LimitEngine {
  private readonly shared: LimitEngine
  private readonly now: () => number
  private readonly quotas = new Map<string, HeldQuota>()
  /** Names in the shared counts of the slots that requests took over from earlier ones, by their own names. */
  private readonly sharedNames = new Map<string, string>()
  private timer: NodeJS.Timeout | undefined

  /** @param now returns the Unix time in milliseconds. */
  constructor(shared: LimitEngine, now: () => number) {
    this.shared = shared
    this.now = now
  }

  step(step: LimitStep, now = this.now()): LimitState | Promise<LimitState> {
    const quota = this.quotaOf(step)
    quota.count(step)
    if (!this.fits(step, quota, now)) return this.ask(step, quota)
    quota.take(step)
    if (step.leave !== undefined) quota.keepSlot(this.sharedName(step.leave))
    const name = step.enter === undefined ? undefined : quota.takeSlot()
    if (name !== undefined) this.sharedNames.set(step.enter!, name)
    return quota.stateAt(now)
  }

  leaveAll(owner: string): void {
    this.shared.leaveAll(owner)
  }

  /** Returns everything that is held. */
  close(): void {
    clearInterval(this.timer)
    const quotas = [...this.quotas.values()]
    this.quotas.clear()
    for (const quota of quotas) this.apply(quota.giveBack(this.now()), quota)
    this.shared.close()
  }

  private fits(step: LimitStep, quota: HeldQuota, now: number): boolean {
    if (step.initial !== undefined || step.atMost !== undefined) return false
    return step.enforced ? quota.covers(step, now) : quota.absorbs(step, now)
  }

  /** Applies a step in the shared counts. If they refuse it while this process holds something, gives that back first. */
  private ask(step: LimitStep, quota: HeldQuota): LimitState | Promise<LimitState> {
    const leave = step.leave === undefined ? undefined : this.sharedName(step.leave)
    const state = this.send({ ...step, leave }, quota)
    if (!(state instanceof Promise)) return state
    return state.then(answer => {
      if (answer.refused === undefined || !quota.holdsAnything) return answer
      this.apply(quota.giveBack(this.now()), quota)
      return this.send(step, quota)
    })
  }

  private send(step: LimitStep, quota: HeldQuota): LimitState | Promise<LimitState> {
    const state = this.shared.step({ ...step, reportsRoom: true })
    if (state instanceof Promise) return state.then(answer => quota.learn(answer, this.now()))
    return quota.learn(state, this.now())
  }

  /** Returns the name in the shared counts of a slot that is released, and forgets it. */
  private sharedName(name: string): string {
    const shared = this.sharedNames.get(name)
    if (shared === undefined) return name
    this.sharedNames.delete(name)
    return shared
  }

  /** Returns the quota of a key. Gives back what is held under earlier limits. */
  private quotaOf({ key, limits }: LimitStep): HeldQuota {
    const known = this.quotas.get(key)
    if (known?.isAbout(limits) === true) return known
    const quota = new HeldQuota(key, limits)
    this.quotas.set(key, quota)
    if (known !== undefined) this.apply(known.giveBack(this.now()), known)
    this.timer ??= setInterval(() => this.adjustAll(), ADJUST_MS).unref()
    return quota
  }

  private adjustAll(): void {
    for (const quota of this.quotas.values()) {
      if (quota.isIdle) this.quotas.delete(quota.key)
      else this.apply(quota.adjust(this.now()), quota)
    }
    if (this.quotas.size > 0) return
    clearInterval(this.timer)
    this.timer = undefined
  }

  /** Applies an adjustment in the shared counts. */
  private apply({ returned, slots, taken }: Adjustment, quota: HeldQuota): void {
    for (const name of slots) void this.send(quota.releaseOf(name), quota)
    if (returned !== undefined) void this.send(returned, quota)
    if (taken !== undefined) void this.takeMore(taken, quota)
  }

  private async takeMore(taken: LimitStep, quota: HeldQuota): Promise<void> {
    const { refused, unknown } = await this.send(taken, quota)
    quota.answered(taken, refused === undefined && unknown !== true)
    // The limits may have changed meanwhile, or the process may be ending.
    if (this.quotas.get(quota.key) !== quota) this.apply(quota.giveBack(this.now()), quota)
  }
}

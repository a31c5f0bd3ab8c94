import type { LimitStep } from './engine.ts'

/** Steps that are held; beyond, places come back by themselves and spend is that of usage records. */
const MOST = 100_000

/** Steps that were counted here alone, until the shared engine has counted them too. */
export class PendingSteps {
  /** Names of places that were taken here. */
  private readonly entered = new Set<string>()
  private readonly costs = new Map<string, LimitStep>()
  private readonly leaves = new Map<string, LimitStep>()

  /**
   * A step is counted here.
   *
   * @param mayBeCounted the shared engine may have counted it: then its cost is not sent.
   */
  add(step: LimitStep, mayBeCounted: boolean): void {
    const { key, limits, cost, enter, leave } = step
    if (enter !== undefined) this.entered.add(enter)
    if (cost !== 0 && !mayBeCounted && (limits.day !== undefined || limits.month !== undefined)) {
      const before = this.costs.get(key)?.cost ?? 0
      put(this.costs, key, { ...NOTHING, key, limits, cost: before + cost })
    }
    if (leave !== undefined && !this.entered.delete(leave)) put(this.leaves, leave, { ...NOTHING, key, limits, leave })
  }

  /** A step that may be counted by the others, too: its place is needed only once. */
  doubt({ key, limits, enter }: LimitStep): void {
    if (enter !== undefined) put(this.leaves, enter, { ...NOTHING, key, limits, leave: enter })
  }

  /** Whether a place that is given back was taken here. */
  returned(leave: string | undefined): boolean {
    return leave !== undefined && this.entered.size > 0 && this.entered.delete(leave)
  }

  /** A step that the others are still to count. */
  first(): LimitStep | undefined {
    return this.leaves.values().next().value ?? this.costs.values().next().value
  }

  /** The others counted it. What was added to it meanwhile is still owed. */
  paid({ key, cost, leave }: LimitStep): void {
    if (leave !== undefined) {
      this.leaves.delete(leave)
      return
    }
    const now = this.costs.get(key)
    this.costs.delete(key)
    if (now !== undefined && now.cost !== cost) this.costs.set(key, { ...now, cost: now.cost - cost })
  }
}

const NOTHING = { requests: 0, tokens: 0, cost: 0, enforced: false } as const

function put(steps: Map<string, LimitStep>, name: string, step: LimitStep): void {
  if (steps.has(name) || steps.size < MOST) steps.set(name, step)
}

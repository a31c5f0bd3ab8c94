import type { LimitStep, MemoryEngine } from './engine.ts'

/** Steps that are held; beyond, places come back by themselves and spend is that of usage records. */
const MOST = 100_000

/**
 * Steps that were counted here alone, until the shared engine has counted them too: places that were given back or are
 * still taken, what was spent, and how low the minute's allowances are.
 */
export class PendingSteps {
  /** Places that were taken here, by name. */
  private readonly entered = new Map<string, LimitStep>()
  private readonly costs = new Map<string, LimitStep>()
  private readonly leaves = new Map<string, LimitStep>()
  private readonly levels = new Map<string, LimitStep>()
  private readonly local: MemoryEngine

  /** @param local counts the steps meanwhile. */
  constructor(local: MemoryEngine) {
    this.local = local
  }

  /**
   * A step is counted here.
   *
   * @param mayBeCounted the shared engine may have counted it: then its cost is not sent.
   */
  add(step: LimitStep, mayBeCounted: boolean): void {
    const { key, limits, requests, tokens, cost, enter, leave } = step
    const nothing = { ...NOTHING, key, limits }
    if (enter !== undefined && limits.concurrent !== undefined) put(this.entered, enter, { ...nothing, enter })
    if (cost !== 0 && !mayBeCounted && (limits.day !== undefined || limits.month !== undefined)) this.owe(nothing, cost)
    if ((requests !== 0 && limits.rpm !== undefined) || (tokens !== 0 && limits.tpm !== undefined))
      put(this.levels, key, nothing)
    if (leave !== undefined && !this.entered.delete(leave)) put(this.leaves, leave, { ...nothing, leave })
  }

  /** A step that may be counted by the others, too: its place is needed only once. */
  doubt({ key, limits, enter }: LimitStep): void {
    if (enter !== undefined) put(this.leaves, enter, { ...NOTHING, key, limits, leave: enter })
  }

  /** Whether a place that is given back was taken here. */
  returned(leave: string | undefined): boolean {
    return leave !== undefined && this.entered.size > 0 && this.entered.delete(leave)
  }

  /** Forgets the places that an owner took here. */
  leaveAll(owner: string): void {
    for (const name of this.entered.keys()) if (name.startsWith(`${owner}.`)) this.entered.delete(name)
  }

  /** Takes out a step that the others are still to count; places last, as many of them are given back meanwhile. */
  next(): LimitStep | undefined {
    const leave = taken(this.leaves)
    if (leave !== undefined) return leave
    const cost = taken(this.costs)
    if (cost !== undefined) return this.withSpend(cost)
    const level = taken(this.levels)
    if (level === undefined) return taken(this.entered)
    const at = Date.now()
    const { requests, tokens } = this.local.step(level)
    return { ...level, atMost: { requests, tokens, at } }
  }

  /**
   * A step that was taken out did not come through.
   *
   * @param mayBeCounted only the answer may be missing: then its cost is not sent again.
   */
  putBack(step: LimitStep, mayBeCounted: boolean): void {
    const { key, limits, cost, enter, leave, atMost } = step
    if (leave !== undefined) put(this.leaves, leave, step)
    if (cost !== 0 && !mayBeCounted) this.owe({ ...NOTHING, key, limits }, cost)
    if (atMost !== undefined) put(this.levels, key, { ...NOTHING, key, limits })
    if (enter !== undefined && !this.leaves.has(enter)) put(this.entered, enter, step)
  }

  private owe(nothing: LimitStep, cost: number): void {
    const before = this.costs.get(nothing.key)?.cost ?? 0
    put(this.costs, nothing.key, { ...nothing, cost: before + cost })
  }

  /** The step with what the key had spent before it, for others that lost their counts. */
  private withSpend(step: LimitStep): LimitStep {
    const spent = this.local.spent(step.key, step.limits)
    if (spent === undefined) return step
    const { day, month, at } = spent
    return { ...step, initial: { day: Math.max(0, day - step.cost), month: Math.max(0, month - step.cost), at } }
  }
}

const NOTHING = { requests: 0, tokens: 0, cost: 0, enforced: false } as const

function put(steps: Map<string, LimitStep>, name: string, step: LimitStep): void {
  if (steps.has(name) || steps.size < MOST) steps.set(name, step)
}

/** The first of the steps, which is not there afterwards. */
function taken(steps: Map<string, LimitStep>): LimitStep | undefined {
  const [first] = steps
  if (first === undefined) return undefined
  steps.delete(first[0])
  return first[1]
}

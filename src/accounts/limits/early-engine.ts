import { putNewest } from '../../canonical/bounded-map.ts'
import type { LimitEngine, LimitState, LimitStep } from './engine.ts'
import { KnownRoom } from './known-room.ts'

/** Duration of a step, in milliseconds, above which it is slow. */
const SLOW_STEP_MS = 5
/** Time for which every step must be slow, in milliseconds. Many steps at once also wait for each other, but not so long. */
const SLOW_FOR_MS = 2000
/** Maximum number of keys whose room is remembered. */
const MAX_KEYS = 10_000

/**
 * Keeps callers from waiting for slow shared counts. After these needed more than a few milliseconds for every step for
 * some seconds, a step is admitted at once if the last known state has ample room for it, and is counted there
 * afterwards. Steps without ample room wait as before, so that limits are exact where they matter: each process may
 * admit at most a sixteenth of what was left when the counts last answered.
 */
export class EarlyEngine implements LimitEngine {
  private readonly shared: LimitEngine
  private readonly now: () => number
  private readonly rooms = new Map<string, KnownRoom>()
  /** Steps that took slots without waiting, by the names of the slots. A slot is released after it is taken. */
  private readonly entering = new Map<string, Promise<LimitState>>()
  /** Time since which every step is slow, or undefined if the latest one was not. */
  private slowSince: number | undefined

  /** @param now returns the Unix time in milliseconds. */
  constructor(shared: LimitEngine, now: () => number) {
    this.shared = shared
    this.now = now
  }

  /** True if the shared counts have been slow for some time. */
  private isSlow(now: number): boolean {
    return this.slowSince !== undefined && now - this.slowSince >= SLOW_FOR_MS
  }

  step(step: LimitStep): LimitState | Promise<LimitState> {
    const entered = step.leave === undefined ? undefined : this.entering.get(step.leave)
    if (entered !== undefined) return entered.then(() => this.timed(step))
    const now = this.now()
    if (!step.enforced || !this.isSlow(now)) return this.timed(step)
    const room = this.rooms.get(step.key)
    if (room?.covers(step, now) !== true) return this.timed(step)
    room.sent(step)
    const counted = Promise.resolve(this.timed({ ...step, enforced: false })).finally(() => this.settled(step, room))
    if (step.enter !== undefined) this.entering.set(step.enter, counted)
    return room.expected(now)
  }

  leaveAll(owner: string): void {
    this.shared.leaveAll(owner)
  }

  close(): void {
    this.rooms.clear()
    this.shared.close()
  }

  /** Applies a step in the shared counts. Records how long they took and what is left. */
  private timed(step: LimitStep): LimitState | Promise<LimitState> {
    const began = this.now()
    const state = this.shared.step(step)
    return state instanceof Promise ? state.then(answer => this.answered(step, answer, began)) : state
  }

  private answered(step: LimitStep, state: LimitState, began: number): LimitState {
    const now = this.now()
    if (now - began <= SLOW_STEP_MS) this.slowSince = undefined
    else this.slowSince ??= began
    if (this.slowSince !== undefined && state.unknown !== true) this.roomOf(step).learn(state, now)
    return state
  }

  private settled(step: LimitStep, room: KnownRoom): void {
    room.settled(step)
    if (step.enter !== undefined) this.entering.delete(step.enter)
  }

  private roomOf({ key, limits }: LimitStep): KnownRoom {
    let room = this.rooms.get(key)
    if (room?.isAbout(limits) !== true) putNewest(this.rooms, key, (room = new KnownRoom(limits)), MAX_KEYS)
    return room
  }
}

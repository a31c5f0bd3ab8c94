import { GatewayError, rateLimited } from '../../canonical/error.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { StoreView } from '../../store/lazy-store.ts'
import { BackgroundReply } from './background-reply.ts'
import { BackgroundRun } from './background-run.ts'
import type { Copies } from './copies.ts'
import type { ResponseSaver } from './response-saver.ts'

/** Interval between updates of the store, in milliseconds. Updates also detect work that another process ended. */
const UPDATE_INTERVAL = 250
/** Interval between renewals of a lease, in milliseconds. */
const RENEWAL = 20_000

/**
 * Takes one of the slots that a key has across all processes. Returns a function that releases the slot, or undefined
 * if none is free.
 */
export type TakeSlot = (key: string, most: number) => Promise<(() => void) | undefined>

/** Background responses of this process: starts, follows, cancels and ends them. */
export class Background {
  private readonly copies: Copies
  private readonly takeSlot: TakeSlot
  private readonly working = new Map<string, BackgroundRun>()
  /** Runs whose answer is not complete yet. */
  private readonly generating = new Set<BackgroundRun>()
  private updates: NodeJS.Timeout | undefined
  /** Ended responses whose end is not stored yet. Only this process knows the end. */
  private readonly unstored = new Map<string, BackgroundRun>()

  constructor(copies: Copies, takeSlot: TakeSlot) {
    this.copies = copies
    this.takeSlot = takeSlot
  }

  /** Returns the run of a response that this process works on, or whose end only this process knows. */
  find(owner: string, id: string): BackgroundRun | undefined {
    const one = this.working.get(id) ?? this.unstored.get(id)
    return one?.saver.owner === owner ? one : undefined
  }

  /**
   * Starts a response. It is stored before this function returns. `follow` then stores its answer.
   *
   * @param most maximum number of background responses of a key across all processes.
   * @throws GatewayError `rate-limited` if the key has too many, `overloaded` if the response cannot be stored.
   */
  async start(request: CanonicalRequest, saver: ResponseSaver, store: StoreView, most: number): Promise<BackgroundRun> {
    const { owner, id } = saver
    const worker = await processId(store)
    const reply = new BackgroundReply(saver.format, id, request)
    const context = { saver, turns: store.turns, copies: this.copies, worker }
    // The slot is taken last. An error before it has no slot to release.
    const releaseSlot = await this.takeSlot(owner, most)
    if (releaseSlot === undefined) throw tooMany(most)
    saver.saves = false
    const one = new BackgroundRun(reply, { ...context, releaseSlot })
    this.working.set(id, one)
    if (!(await one.begin())) {
      this.release(one)
      throw new GatewayError({ kind: 'overloaded', message: 'The response cannot be stored at the moment.' })
    }
    return one
  }

  /**
   * Stores a response while it is generated, and its end.
   *
   * @param answered resolves when the answer was written to the reply of the run. Never rejects.
   */
  follow(one: BackgroundRun, answered: Promise<void>): void {
    void this.work(one, answered)
  }

  private release({ saver, context }: BackgroundRun): void {
    this.working.delete(saver.id)
    context.releaseSlot()
  }

  private async work(one: BackgroundRun, answered: Promise<void>): Promise<void> {
    const { id } = one.saver
    this.generating.add(one)
    this.updates ??= setInterval(this.update, UPDATE_INTERVAL).unref()
    const renewal = setInterval(() => one.renew(), RENEWAL).unref()
    await answered
    this.generating.delete(one)
    await one.finish()
    clearInterval(renewal)
    this.unstored.set(id, one)
    this.release(one)
    await one.saveEndLate()
    this.unstored.delete(id)
  }

  /**
   * Stores new events of all responses at once, so that they share transactions. Ends work that another process ended.
   * Never rejects.
   */
  private readonly update = async (): Promise<void> => {
    const all = [...this.generating]
    if (all.length === 0) {
      clearInterval(this.updates)
      this.updates = undefined
      return
    }
    await Promise.all(all.map(one => one.save()))
    const unfinished = await all[0]!.context.turns.unfinished(all.map(({ saver }) => saver.id)).catch(() => undefined)
    if (unfinished === undefined) return
    for (const one of all) if (!unfinished.has(one.saver.id) && this.generating.has(one)) one.endedElsewhere()
  }

  /** Cancels a response and waits for its end. Returns false if this process does not work on it. */
  async cancel(owner: string, id: string): Promise<boolean> {
    const one = this.find(owner, id)
    if (one === undefined) return false
    one.end('cancelled')
    await one.done
    return true
  }

  /** Fails the responses of every owner for whom `reasonFor` returns an error. */
  end(reasonFor: (owner: string) => GatewayError | undefined): void {
    for (const one of this.working.values()) {
      const why = reasonFor(one.saver.owner)
      if (why !== undefined) one.end('failed', why)
    }
  }

  /** Resolves when no work is left. */
  async idle(): Promise<void> {
    while (this.working.size > 0) await Promise.all([...this.working.values()].map(({ done }) => done))
  }

  /** Ends all work. Unfinished responses fail. */
  async close(): Promise<void> {
    const all = [...this.working.values()]
    for (const one of all) one.end('failed')
    await Promise.all(all.map(({ done }) => done))
  }
}

/**
 * Returns the id of this process, by which others check whether it is alive. Undefined if the store cannot record it.
 * Only leases then show whether it is alive.
 */
async function processId({ liveness }: StoreView): Promise<string | undefined> {
  try {
    await liveness.open()
    return liveness.id
  } catch {
    return undefined
  }
}

const tooMany = (most: number): GatewayError =>
  rateLimited(`This key already has ${most} background responses in progress.`, 5, 'background_limit_reached')

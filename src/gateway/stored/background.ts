import { GatewayError, rateLimited } from '../../canonical/error.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { StoreView } from '../../store/lazy-store.ts'
import { BackgroundReply } from './background-reply.ts'
import { BackgroundRun } from './background-run.ts'
import type { Copies } from './copies.ts'
import type { ResponseSaver } from './response-saver.ts'

/** Interval between updates of the store, in milliseconds. Updates also detect work that another process has ended. */
const UPDATE_INTERVAL = 250
/** Interval between renewals of a lease, in milliseconds. */
const RENEWAL_INTERVAL = 20_000

/**
 * Takes one of the slots that a key has across all processes. Returns a function that releases the slot, or undefined
 * if no slot is free.
 */
export type TakeSlot = (key: string, limit: number) => Promise<(() => void) | undefined>

/** Background responses of this process: starts, follows, cancels and ends them. */
export class Background {
  private readonly copies: Copies
  private readonly takeSlot: TakeSlot
  private readonly runs = new Map<string, BackgroundRun>()
  /** Runs whose answer is not complete yet. */
  private readonly generatingRuns = new Set<BackgroundRun>()
  private updateTimer: NodeJS.Timeout | undefined
  /** Ended responses whose end is not stored yet. Only this process knows the end. */
  private readonly unstoredRuns = new Map<string, BackgroundRun>()

  constructor(copies: Copies, takeSlot: TakeSlot) {
    this.copies = copies
    this.takeSlot = takeSlot
  }

  /** Returns the run of a response that this process works on, or whose end only this process knows. */
  find(owner: string, id: string): BackgroundRun | undefined {
    const run = this.runs.get(id) ?? this.unstoredRuns.get(id)
    return run?.saver.owner === owner ? run : undefined
  }

  /**
   * Starts a response. The response is stored before this function returns. `follow` then stores its answer.
   *
   * @param limit maximum number of background responses of a key across all processes.
   * @throws GatewayError `rate-limited` if the key has too many, `overloaded` if the response cannot be stored.
   */
  async start(
    request: CanonicalRequest,
    saver: ResponseSaver,
    store: StoreView,
    limit: number,
  ): Promise<BackgroundRun> {
    const { owner, id } = saver
    const worker = await processId(store)
    const reply = new BackgroundReply(saver.format, id, request)
    const context = { saver, turns: store.turns, copies: this.copies, worker }
    // The slot is taken last, so that earlier errors need not release it.
    const releaseSlot = await this.takeSlot(owner, limit)
    if (releaseSlot === undefined) throw tooMany(limit)
    saver.savesWhenSent = false
    const run = new BackgroundRun(reply, { ...context, releaseSlot })
    this.runs.set(id, run)
    if (!(await run.begin())) {
      this.release(run)
      throw new GatewayError({ kind: 'overloaded', message: 'The response cannot be stored at present.' })
    }
    return run
  }

  /**
   * Stores a response while it is generated, including its end.
   *
   * @param answered resolves once the answer has been written to the run's reply. Never rejects.
   */
  follow(run: BackgroundRun, answered: Promise<void>): void {
    void this.work(run, answered)
  }

  private release({ saver, context }: BackgroundRun): void {
    this.runs.delete(saver.id)
    context.releaseSlot()
  }

  private async work(run: BackgroundRun, answered: Promise<void>): Promise<void> {
    const { id } = run.saver
    this.generatingRuns.add(run)
    this.updateTimer ??= setInterval(this.update, UPDATE_INTERVAL).unref()
    const renewal = setInterval(() => run.renew(), RENEWAL_INTERVAL).unref()
    await answered
    this.generatingRuns.delete(run)
    await run.finish()
    clearInterval(renewal)
    this.unstoredRuns.set(id, run)
    this.release(run)
    await run.saveEndLate()
    this.unstoredRuns.delete(id)
  }

  /**
   * Stores new events of all responses at once, so that they share transactions. Ends work that another process ended.
   * Never rejects.
   */
  private readonly update = async (): Promise<void> => {
    const all = [...this.generatingRuns]
    if (all.length === 0) {
      clearInterval(this.updateTimer)
      this.updateTimer = undefined
      return
    }
    await Promise.all(all.map(run => run.save()))
    const unfinished = await all[0]!.context.turns.unfinished(all.map(({ saver }) => saver.id)).catch(() => undefined)
    if (unfinished === undefined) return
    for (const run of all) if (!unfinished.has(run.saver.id) && this.generatingRuns.has(run)) run.endFromElsewhere()
  }

  /** Cancels a response and waits for its end. Returns false if this process is not working on the response. */
  async cancel(owner: string, id: string): Promise<boolean> {
    const run = this.find(owner, id)
    if (run === undefined) return false
    run.end('cancelled')
    await run.done
    return true
  }

  /** Fails the responses of every owner for whom `reasonFor` returns an error. */
  end(reasonFor: (owner: string) => GatewayError | undefined): void {
    for (const run of this.runs.values()) {
      const why = reasonFor(run.saver.owner)
      if (why !== undefined) run.end('failed', why)
    }
  }

  /** Resolves when no work is left. */
  async idle(): Promise<void> {
    while (this.runs.size > 0) await Promise.all([...this.runs.values()].map(({ done }) => done))
  }

  /** Ends all work. Unfinished responses fail. */
  async close(): Promise<void> {
    const all = [...this.runs.values()]
    for (const run of all) run.end('failed')
    await Promise.all(all.map(({ done }) => done))
  }
}

/**
 * Returns the id with which other processes check whether this one is alive, or undefined if the store cannot record
 * it, so that only leases show whether this process is alive.
 */
async function processId({ liveness }: StoreView): Promise<string | undefined> {
  try {
    await liveness.open()
    return liveness.id
  } catch {
    return undefined
  }
}

const tooMany = (limit: number): GatewayError =>
  rateLimited(`This key already has ${limit} background responses in progress.`, 5, 'background_limit_reached')

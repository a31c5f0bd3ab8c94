import { GatewayError, rateLimited } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { WRITERS } from '../../egress/index.ts'
import type { StoreView } from '../../store/lazy-store.ts'
import { BackgroundRun } from './background-run.ts'
import type { Copies } from './copies.ts'
import { STORED_FORMAT } from './items.ts'
import type { Keeper } from './keeper.ts'
import { Run } from './run.ts'

/** Milliseconds between updates of the store, which also detect work that another process ended. */
const TICK = 250
/** Milliseconds between renewals of a lease. */
const RENEWAL = 20_000

/**
 * Takes one of the slots that a key has across all processes. Returns a function that releases the slot, or undefined
 * if none is free.
 */
export type TakePlace = (key: string, most: number) => Promise<(() => void) | undefined>

/** Background responses of this process: starts, follows, cancels and ends them. */
export class Background {
  private readonly copies: Copies
  private readonly takePlace: TakePlace
  private readonly working = new Map<string, BackgroundRun>()
  /** Ended responses whose end is not stored yet; only this process knows it. */
  private readonly unkept = new Map<string, BackgroundRun>()

  constructor(copies: Copies, takePlace: TakePlace) {
    this.copies = copies
    this.takePlace = takePlace
  }

  /** The run of a response that this process works on, or whose end only this process knows. */
  find(owner: string, id: string): BackgroundRun | undefined {
    const one = this.working.get(id) ?? this.unkept.get(id)
    return one?.keeper.owner === owner ? one : undefined
  }

  /**
   * Starts a response, which is stored before this function returns; `follow` then stores its answer.
   *
   * @param most background responses a key may have across all processes.
   * @throws GatewayError `rate-limited` if the key has too many, `overloaded` if the response cannot be stored.
   */
  async start(request: CanonicalRequest, keeper: Keeper, store: StoreView, most: number): Promise<BackgroundRun> {
    const { owner, id } = keeper
    const worker = await identified(store)
    const leave = await this.takePlace(owner, most)
    if (leave === undefined) throw tooMany(most)
    keeper.saves = false
    const run = new Run(firstOf(request, keeper))
    const one = new BackgroundRun(run, { keeper, turns: store.turns, copies: this.copies, worker, leave })
    this.working.set(id, one)
    if (!(await keeper.keep(one.response, one.lease))) {
      this.over(one)
      throw new GatewayError({ kind: 'overloaded', message: 'The response cannot be stored at the moment.' })
    }
    await one.save()
    return one
  }

  /**
   * Stores a response while it is generated, and its end.
   *
   * @param answered resolves when the answer was written to the reply of the run; never rejects.
   */
  follow(one: BackgroundRun, answered: Promise<void>): void {
    void this.work(one, answered)
  }

  private over({ keeper, context }: BackgroundRun): void {
    this.working.delete(keeper.id)
    context.leave()
  }

  private async work(one: BackgroundRun, answered: Promise<void>): Promise<void> {
    const { id } = one.keeper
    const looks = setInterval(() => void this.look(one), TICK).unref()
    const renewal = setInterval(() => one.renew(), RENEWAL).unref()
    await answered
    clearInterval(looks)
    await one.finish()
    clearInterval(renewal)
    this.unkept.set(id, one)
    this.over(one)
    await one.keepLate()
    this.unkept.delete(id)
  }

  /** Stores new events and ends work that another process ended. Never rejects. */
  private async look(one: BackgroundRun): Promise<void> {
    await one.save()
    const { id } = one.keeper
    const unfinished = await one.context.turns.unfinished([id]).catch(() => undefined)
    if (unfinished?.has(id) === false && this.working.has(id)) one.endedElsewhere()
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
      const why = reasonFor(one.keeper.owner)
      if (why !== undefined) one.end('failed', why)
    }
  }

  /** Resolves when no work is left. */
  async idle(): Promise<void> {
    while (this.working.size > 0) await Promise.all([...this.working.values()].map(({ done }) => done))
  }

  /** Ends all work; unfinished responses fail. */
  async close(): Promise<void> {
    const all = [...this.working.values()]
    for (const one of all) one.end('failed')
    await Promise.all(all.map(({ done }) => done))
  }
}

/**
 * The id of this process, by which others check whether it is alive; undefined if the store cannot record it. Then only
 * leases show it.
 */
async function identified({ liveness }: StoreView): Promise<string | undefined> {
  try {
    await liveness.open()
    return liveness.id
  } catch {
    return undefined
  }
}

const tooMany = (most: number): GatewayError =>
  rateLimited(`This key already has ${most} background responses in progress.`, 5, 'background_limit_reached')

/** The queued response before any work, as a stream would start with. */
function firstOf(request: CanonicalRequest, { id }: Keeper): JsonObject {
  const createdAt = Math.floor(Date.now() / 1000)
  const writer = WRITERS[STORED_FORMAT]!.events!(request)
  const [created] = writer.push({ type: 'result-start', id, model: request.model, createdAt })
  return (JSON.parse(created!.data) as { response: JsonObject }).response
}

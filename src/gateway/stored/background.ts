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

/** Milliseconds between two looks at what is worked on: what others ended is noticed, what is new is stored. */
const TICK = 250
/** Milliseconds after which a lease is renewed. */
const RENEWAL = 20_000

/** Takes one of so many places that a key has in all processes; the result gives it back, undefined: none is free. */
export type TakePlace = (key: string, most: number) => Promise<(() => void) | undefined>

/** The answers that are in the making without a caller who waits for them. */
export class Background {
  private readonly copies: Copies
  private readonly takePlace: TakePlace
  private readonly working = new Map<string, BackgroundRun>()
  /** Those that have ended, and are known here alone until the store takes them. */
  private readonly unkept = new Map<string, BackgroundRun>()

  constructor(copies: Copies, takePlace: TakePlace) {
    this.copies = copies
    this.takePlace = takePlace
  }

  /** The work on that response, if this process does it, or alone has its end. */
  find(owner: string, id: string): BackgroundRun | undefined {
    const one = this.working.get(id) ?? this.unkept.get(id)
    return one?.keeper.owner === owner ? one : undefined
  }

  /**
   * Begins a response, which is stored before this returns; `follow` has its answer stored as it is made.
   *
   * @param most how many a key may have, in all processes.
   * @throws GatewayError `rate-limited` for a key with too many, `overloaded` where it cannot be stored.
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
      throw new GatewayError({ kind: 'overloaded', message: 'The response cannot be kept just now.' })
    }
    await one.save()
    return one
  }

  /**
   * Stores a response while it is made, and its end.
   *
   * @param answered settles when it is answered to the reply of the run; never rejects.
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

  /** Stores what is new, and ends the work that another process ended. Never rejects. */
  private async look(one: BackgroundRun): Promise<void> {
    await one.save()
    const { id } = one.keeper
    const unfinished = await one.context.turns.unfinished([id]).catch(() => undefined)
    if (unfinished?.has(id) === false && this.working.has(id)) one.endedElsewhere()
  }

  /** Ends the work on a response, and waits for its end; false where this process does not work on it. */
  async cancel(owner: string, id: string): Promise<boolean> {
    const one = this.find(owner, id)
    if (one === undefined) return false
    one.end('cancelled')
    await one.done
    return true
  }

  /** Ends the work of owners for whom there is a reason: their responses have failed with it. */
  end(reasonFor: (owner: string) => GatewayError | undefined): void {
    for (const one of this.working.values()) {
      const why = reasonFor(one.keeper.owner)
      if (why !== undefined) one.end('failed', why)
    }
  }

  /** Settles when no work is left. */
  async idle(): Promise<void> {
    while (this.working.size > 0) await Promise.all([...this.working.values()].map(({ done }) => done))
  }

  /** Ends all work; what is unfinished has failed. */
  async close(): Promise<void> {
    const all = [...this.working.values()]
    for (const one of all) one.end('failed')
    await Promise.all(all.map(({ done }) => done))
  }
}

/** The id of this process, where others can see by it whether it is alive; otherwise its leases show it. */
async function identified({ liveness }: StoreView): Promise<string | undefined> {
  try {
    await liveness.open()
    return liveness.id
  } catch {
    return undefined
  }
}

const tooMany = (most: number): GatewayError =>
  rateLimited(`This key has ${most} responses in the making in the background already.`, 5, 'background_limit_reached')

/** The response as it stands before anybody works on it: what a stream would begin with. */
function firstOf(request: CanonicalRequest, { id }: Keeper): JsonObject {
  const createdAt = Math.floor(Date.now() / 1000)
  const writer = WRITERS[STORED_FORMAT]!.events!(request)
  const [created] = writer.push({ type: 'result-start', id, model: request.model, createdAt })
  return (JSON.parse(created!.data) as { response: JsonObject }).response
}

import { GatewayError } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { WRITERS } from '../../egress/index.ts'
import type { Turns } from '../../store/turns.ts'
import type { Reply } from '../call.ts'
import type { Keeper } from './keeper.ts'
import { Run, tooMany } from './run.ts'

/** Milliseconds for which a promise to be heard of again holds, and after which it is renewed. */
const LEASE = 30_000
const RENEWAL = 10_000

const leaseFrom = (now: number): number => now + LEASE

interface Working {
  readonly owner: string
  readonly run: Run
  readonly done: Promise<void>
  ended?: 'cancelled' | 'failed'
}

/** The answers that are in the making without a caller who waits for them. */
export class Background {
  private readonly working = new Map<string, Working>()

  /** The run of that id, if it is this process that works on it. */
  find(owner: string, id: string): Run | undefined {
    const one = this.working.get(id)
    return one?.owner === owner ? one.run : undefined
  }

  /**
   * Begins to work on a response, which is kept before this returns; `answer` has it answered to a reply.
   *
   * @throws GatewayError `rate-limited` for a key with too many, `overloaded` where it cannot be kept.
   */
  async start({ keeper, most, request, turns }: Beginning, answer: (reply: Reply) => Promise<void>): Promise<Run> {
    const { owner, id } = keeper
    if (this.countOf(owner) >= most) throw tooMany(most)
    keeper.saves = false
    const run = new Run(firstOf(request, keeper))
    const { promise: done, resolve } = Promise.withResolvers<void>()
    const one: Working = { owner, run, done }
    this.working.set(id, one)
    if (!(await keeper.keep(run.response, { lease: leaseFrom(Date.now()) }))) {
      this.working.delete(id)
      throw new GatewayError({ kind: 'overloaded', message: 'The response cannot be kept just now.' })
    }
    void this.work(id, one, keeper, turns, answer).finally(resolve)
    return run
  }

  private countOf(owner: string): number {
    return [...this.working.values()].filter(one => one.owner === owner).length
  }

  private async work(id: string, one: Working, keeper: Keeper, turns: Turns, answer: (reply: Reply) => Promise<void>) {
    const { run, owner } = one
    const renewal = setInterval(() => {
      turns.renew(owner, id, leaseFrom(Date.now())).then(
        still => still || this.end(one, 'cancelled'),
        () => {},
      )
    }, RENEWAL).unref()
    await answer(run).catch(() => {})
    clearInterval(renewal)
    run.settle(one.ended)
    const tape = run.tape.texts
    await keeper.keep(run.response, tape === undefined ? {} : { tape })
    run.conclude()
    this.working.delete(id)
  }

  private end(one: Working, how: 'cancelled' | 'failed'): void {
    one.ended ??= how
    one.run.abort()
  }

  /** Ends the work on a response; settles with what it came to. Undefined where this process does not work on it. */
  async cancel(owner: string, id: string): Promise<JsonObject | undefined> {
    const one = this.working.get(id)
    if (one?.owner !== owner) return undefined
    this.end(one, 'cancelled')
    await one.done
    return one.run.response
  }

  /** Settles when nobody works on anything any more. */
  async idle(): Promise<void> {
    while (this.working.size > 0) await Promise.all([...this.working.values()].map(({ done }) => done))
  }

  /** Ends all work; what is unfinished has failed. */
  async close(): Promise<void> {
    const all = [...this.working.values()]
    for (const one of all) this.end(one, 'failed')
    await Promise.all(all.map(({ done }) => done))
  }
}

export interface Beginning {
  readonly keeper: Keeper
  /** How many a key may have. */
  readonly most: number
  readonly request: CanonicalRequest
  readonly turns: Turns
}

/** The response as it stands before anybody works on it: what a stream would begin with. */
function firstOf(request: CanonicalRequest, { id }: Keeper): JsonObject {
  const createdAt = Math.floor(Date.now() / 1000)
  const writer = WRITERS['responses']!.events!(request)
  const [created] = writer.push({ type: 'result-start', id, model: request.model, createdAt })
  return (JSON.parse(created!.data) as { response: JsonObject }).response
}

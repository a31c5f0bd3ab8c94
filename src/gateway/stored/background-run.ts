import { setTimeout as pause } from 'node:timers/promises'
import { type GatewayError, tooLarge } from '../../canonical/error.ts'
import { defined, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Turn, Turns } from '../../store/turns.ts'
import type { Reply } from '../call.ts'
import type { Copies } from './copies.ts'
import type { Keeper } from './keeper.ts'
import { type Batch, type EventSource, play } from './playback.ts'
import type { Ended, Run } from './run.ts'

/** Milliseconds; how long a lease is valid. */
const LEASE = 120_000

/** Milliseconds of delay before each attempt to store the end of an answer. */
const TRIES = [0, 500, 2000] as const

/** Milliseconds between later attempts, after the end was sent, and the total time for them. */
const LATE = { wait: 1000, most: 3_600_000 } as const

interface RunContext {
  readonly keeper: Keeper
  readonly turns: Turns
  readonly copies: Copies
  /** The id of this process, by which other processes check whether it is alive. */
  readonly worker: string | undefined
  /** Releases the key's slot for background work. */
  readonly leave: () => void
}

/**
 * A background response in progress: brings the store up to date while the response is generated, and serves its
 * events.
 */
export class BackgroundRun implements EventSource {
  readonly run: Run
  readonly context: RunContext
  readonly keeper: Keeper
  /** Resolves when the response has ended. */
  readonly done: Promise<void>
  private readonly settled = Promise.withResolvers<void>()
  private ended: Ended | undefined
  private saving: Promise<void> | undefined
  private forgotten = false
  /** Whether the end of the response could not be stored yet. */
  private unkept = false

  constructor(run: Run, context: RunContext) {
    this.run = run
    this.context = context
    this.keeper = context.keeper
    this.done = this.settled.promise
    run.spill = () => void this.save()
  }

  /** Answers the request that started the response, with its event stream or with the queued response. */
  async announce({ stream }: CanonicalRequest, reply: Reply, heartbeat: number): Promise<void> {
    if (stream) await play(this, reply, -1, heartbeat)
    else reply.whole(200, {}, JSON.stringify(this.run.first))
  }

  get lease(): Pick<Turn, 'lease' | 'worker'> {
    return { lease: Date.now() + LEASE, ...defined({ worker: this.context.worker }) }
  }

  /** Renews the lease. Never throws. */
  renew(): void {
    this.context.turns.renew(this.keeper.owner, this.keeper.id, Date.now() + LEASE).catch(() => {})
  }

  /** Ends work that another process cancelled; the store already has that outcome. */
  endedElsewhere(): void {
    this.run.shown = { ...this.run.shown, status: 'cancelled', error: null }
    this.end('cancelled')
  }

  /** Ends the work. */
  end(how: Ended, why?: GatewayError): void {
    this.ended ??= how
    this.run.abort(why)
  }

  /** Stores new events and the current response, and ends work that was cancelled elsewhere. Never rejects. */
  save(): Promise<void> {
    this.saving ??= this.saveNow().finally(() => {
      this.saving = undefined
      if (!this.run.log.full) this.run.drain()
    })
    return this.saving
  }

  private async saveNow(): Promise<void> {
    const { run, keeper } = this
    const texts = run.log.pending()
    if (texts.length > 0) {
      const noted = await keeper.note(run.log.stored, texts)
      if (noted === true) run.log.store(texts)
      else if (noted === false) return this.endedElsewhere()
      // A failing store must not delay the answer.
      else run.log.lossy ||= run.log.full
    }
    if (run.log.lossy && !this.forgotten) {
      this.forgotten = true
      await keeper.forgetEvents()
    }
    if (!run.changed || this.ended !== undefined) return
    run.changed = false
    if ((await keeper.advance(run.shown, this.lease)) === false) this.endedElsewhere()
  }

  /** Stores the final response before the last event is sent. */
  async finish(): Promise<void> {
    const { run, keeper, ended } = this
    run.settle(ended)
    await this.saving
    run.changed = false
    const kept = await this.keepEnd()
    this.unkept = kept === undefined
    await this.stand(kept)
    if (ended === 'cancelled' && keeper.copy?.background === true) await this.context.copies.cancel(keeper.copy)
    run.conclude()
    this.settled.resolve()
  }

  private async keepEnd(): Promise<boolean | undefined> {
    for (const wait of TRIES) {
      if (wait > 0) await pause(wait)
      await this.save()
      const kept = await this.keeper.advance(this.run.response)
      if (kept !== undefined) return kept
    }
    return undefined
  }

  /** Keeps trying to store an end that was sent while the store failed. */
  async keepLate(): Promise<void> {
    for (let waited = 0; this.unkept && waited < LATE.most; waited += LATE.wait) {
      await pause(LATE.wait, undefined, { ref: false })
      await this.save()
      this.unkept = (await this.keeper.advance(this.run.response)) === undefined
    }
  }

  /**
   * Adopts the outcome that another process stored. If the response was deleted meanwhile, its copy at the upstream is
   * deleted too.
   */
  private async stand(kept: boolean | undefined): Promise<void> {
    if (kept !== false) return
    const turn = await this.keeper.kept()
    this.run.response = turn?.response ?? { ...this.run.response, status: 'cancelled', error: null }
    if (turn === undefined && this.keeper.copy !== undefined) await this.context.copies.remove(this.keeper.copy)
  }

  get response(): JsonObject {
    return this.run.log.over ? this.run.response : this.run.shown
  }

  async from(number: number): Promise<Batch> {
    const { log } = this.run
    const near = log.from(number)
    const texts = near ?? (await this.keeper.events(number))
    if (near === undefined && texts.length === 0) throw LOST
    return { texts, over: log.over && number + texts.length >= log.length }
  }

  until(number: number): Promise<void> {
    return this.run.log.until(number)
  }
}

const LOST = tooLarge('The stream has more events than can be replayed.')

import { setTimeout as pause } from 'node:timers/promises'
import type { GatewayError } from '../../canonical/error.ts'
import { defined, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { NewEvents } from '../../store/events.ts'
import type { Turn, Turns } from '../../store/turns.ts'
import type { Reply } from '../call.ts'
import type { BackgroundReply } from './background-reply.ts'
import type { Copies } from './copies.ts'
import type { ResponseSaver } from './response-saver.ts'
import { type Batch, type EventSource, LOST, resumeStream } from './resume.ts'
import type { EndReason } from './stored-format.ts'

/** Duration of a lease, in milliseconds. */
const LEASE_DURATION = 120_000

/** Delay before each attempt to store the end of an answer, or to read it, in milliseconds. */
const SAVE_DELAYS = [0, 500, 2000] as const

/** Interval and total time of later attempts, after the end was sent, in milliseconds. */
const LATE_SAVE_TIMES = { interval: 1000, total: 3_600_000 } as const

interface RunContext {
  readonly saver: ResponseSaver
  readonly turns: Turns
  readonly copies: Copies
  /** Id of this process, with which other processes check whether it is alive. */
  readonly worker: string | undefined
  /** Releases the key's slot for background work. */
  readonly releaseSlot: () => void
}

/**
 * A background response in progress: brings the store up to date while the response is generated, and serves its
 * events.
 */
export class BackgroundRun implements EventSource {
  readonly reply: BackgroundReply
  readonly context: RunContext
  readonly saver: ResponseSaver
  /** Resolves when the response has ended. */
  readonly done: Promise<void>
  /** True if another process ended or deleted the response. Only the store then has the outcome. */
  isEndedElsewhere = false
  private readonly settled = Promise.withResolvers<void>()
  private endReason: EndReason | undefined
  private saving: Promise<void> | undefined
  private hasForgottenEvents = false
  /** True if the end of the response could not be stored yet. */
  private isEndUnstored = false

  constructor(reply: BackgroundReply, context: RunContext) {
    this.reply = reply
    this.context = context
    this.saver = context.saver
    this.done = this.settled.promise
    reply.onBacklog = () => void this.save()
  }

  /** Stores the queued response with its first events. Returns whether it was stored. Never rejects. */
  async begin(): Promise<boolean> {
    const events = this.newEvents()
    const isStored = await this.saver.save(this.response, this.lease, events)
    if (isStored) this.reply.log.store(events.texts)
    return isStored
  }

  /** Answers the request that started the response, with its event stream or with the queued response. */
  async announce({ stream }: CanonicalRequest, reply: Reply, heartbeat: number): Promise<void> {
    const { format, queuedResponse: first } = this.reply
    if (stream) await resumeStream(format, this, reply, -1, heartbeat)
    else reply.whole(200, {}, JSON.stringify(format.publicForm(first, [])))
  }

  private get lease(): Pick<Turn, 'lease' | 'worker'> {
    return { lease: Date.now() + LEASE_DURATION, ...defined({ worker: this.context.worker }) }
  }

  /** Renews the lease. Never throws. */
  renew(): void {
    this.context.turns.renew(this.saver.owner, this.saver.id, Date.now() + LEASE_DURATION).catch(() => {})
  }

  /** Ends work that another process ended or deleted. The store already has that outcome. */
  endFromElsewhere(): void {
    this.isEndedElsewhere = true
    this.end('cancelled')
  }

  private asCancelled(response: JsonObject): JsonObject {
    return this.reply.format.endedAnswer(response, 'cancelled', NO_FAILURE)
  }

  /** Ends the work. */
  end(reason: EndReason, why?: GatewayError): void {
    this.endReason ??= reason
    this.reply.abort(why)
  }

  /** Stores new events and the current response, and ends work that was cancelled elsewhere. Never rejects. */
  save(): Promise<void> {
    this.saving ??= this.saveNow().finally(() => {
      this.saving = undefined
      if (!this.reply.log.isFull) this.reply.drain()
    })
    return this.saving
  }

  private async saveNow(): Promise<void> {
    const { reply, saver } = this
    const events = this.newEvents()
    const changed = reply.hasChanged && this.endReason === undefined
    if (changed) reply.hasChanged = false
    if (changed || events.texts.length > 0) {
      const isStored = await (changed ? saver.advance(reply.published, this.lease, events) : saver.addEvents(events))
      if (isStored === true) reply.log.store(events.texts)
      else if (isStored === false) return this.endFromElsewhere()
      // A failing store must not delay the answer.
      else reply.log.isLossy ||= reply.log.isFull
    }
    await this.forgetIncomplete()
  }

  /** Returns the events that are not stored yet. */
  private newEvents(): NewEvents {
    const { log } = this.reply
    return { first: log.stored, texts: log.pending() }
  }

  /** Deletes the stored events if later ones are not stored. Returns true if no incomplete stream is stored. */
  private async forgetIncomplete(): Promise<boolean> {
    if (this.reply.log.isLossy && !this.hasForgottenEvents) this.hasForgottenEvents = await this.saver.forgetEvents()
    return this.hasForgottenEvents || !this.reply.log.isLossy
  }

  /** Stores the final response before the last event is sent. */
  async finish(): Promise<void> {
    const { reply, saver, endReason: ended } = this
    reply.settle(ended)
    await this.saving
    reply.hasChanged = false
    const isStored = await this.saveEnd()
    this.isEndUnstored = isStored === undefined
    await this.adoptOutcome(isStored)
    if (ended === 'cancelled' && saver.copy?.background === true) await this.context.copies.cancel(saver.copy)
    reply.sendFinalEvent()
    this.settled.resolve()
  }

  private saveEnd(): Promise<boolean | undefined> {
    return attempted(() => this.storeEnd())
  }

  /** Keeps trying to store an end that was sent while the store was failing. */
  async saveEndLate(): Promise<void> {
    for (let waited = 0; this.isEndUnstored && waited < LATE_SAVE_TIMES.total; waited += LATE_SAVE_TIMES.interval) {
      await pause(LATE_SAVE_TIMES.interval, undefined, { ref: false })
      this.isEndUnstored = (await this.storeEnd()) === undefined
    }
  }

  /** Stores the final response together with its last events. */
  private async storeEnd(): Promise<boolean | undefined> {
    const { reply, saver } = this
    if (!(await this.forgetIncomplete())) return undefined
    const events = this.newEvents()
    const isStored = await saver.advance(reply.response, {}, events)
    if (isStored === true) reply.log.store(events.texts)
    return isStored
  }

  /**
   * Adopts the outcome that another process stored. If the response was deleted meanwhile, its copy at the upstream is
   * deleted, too. Somebody ended it in either case, so that it is shown as cancelled if the outcome cannot be read.
   */
  private async adoptOutcome(isStored: boolean | undefined): Promise<void> {
    if (isStored !== false) return
    this.isEndedElsewhere = true
    const { copy } = this.saver
    const turn = await attempted(() => this.saver.stored())
    this.reply.response =
      turn === undefined || turn === 'deleted' ? this.asCancelled(this.reply.response) : turn.response
    if (turn === 'deleted' && copy !== undefined) await this.context.copies.remove(copy)
  }

  get response(): JsonObject {
    return this.reply.log.isOver ? this.reply.response : this.reply.published
  }

  async from(number: number): Promise<Batch> {
    const { log } = this.reply
    const cached = log.from(number)
    const texts = cached ?? (await this.saver.events(number))
    if (cached === undefined && texts.length === 0) throw LOST
    return { texts, isLast: log.isOver && number + texts.length >= log.length }
  }

  until(number: number): Promise<void> {
    return this.reply.log.until(number)
  }
}

/** Repeats work while the store fails. Returns undefined if every attempt failed. */
async function attempted<T>(work: () => Promise<T | undefined>): Promise<T | undefined> {
  for (const wait of SAVE_DELAYS) {
    if (wait > 0) await pause(wait)
    const done = await work()
    if (done !== undefined) return done
  }
  return undefined
}

/** Failure of a cancelled response, which has no error. */
const NO_FAILURE = { code: '', message: '' }

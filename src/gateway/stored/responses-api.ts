import { conflict, type GatewayError, invalid, notFound } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { StoreView } from '../../store/lazy-store.ts'
import type { Turn } from '../../store/turns.ts'
import type { Reply } from '../call.ts'
import type { Background } from './background.ts'
import { type Copies, copyOf } from './copies.ts'
import { type Page, paged, shownItem } from './page.ts'
import { type EventSource, replayedResult, resumeStream, storedEvents } from './resume.ts'
import { capitalized, type StoredFormat } from './stored-format.ts'

/**
 * Actions on stored responses (docs/wire/responses.md#stored-responses). They throw GatewayError `not-found` for
 * another owner's response.
 */
export class ResponsesApi {
  private readonly store: StoreView
  private readonly background: Background
  private readonly copies: Copies
  private readonly format: StoredFormat

  constructor(format: StoredFormat, store: StoreView, background: Background, copies: Copies) {
    this.format = format
    this.store = store
    this.background = background
    this.copies = copies
  }

  /** @param withInput whether the result also contains the input items of the turn. */
  async response(owner: string, id: string, withInput = false): Promise<JsonObject> {
    const { format } = this
    const running = format.isId(id) ? this.background.find(owner, id) : undefined
    if (running?.isEndedElsewhere === false)
      return format.publicForm(running.response, withInput ? running.saver.items : [])
    const { response, input } = await this.turn(owner, id)
    return format.publicForm(response, withInput ? input : [])
  }

  /** Reads a turn. A response whose process died before finishing it is marked as failed. */
  private async turn(owner: string, id: string): Promise<Turn> {
    const turn = this.format.isId(id) ? await this.store.turns.find(owner, id) : undefined
    if (turn === undefined) throw this.notFoundError(id)
    return (await this.isOrphaned(turn))
      ? this.settle(turn, this.format.endedAnswer(turn.response, 'failed', INTERRUPTED))
      : turn
  }

  /**
   * Returns true if nobody will finish a turn. The lease decides only if it is unknown whether its process is alive,
   * because the clocks of machines differ.
   */
  private async isOrphaned({ owner, id, lease, worker }: Turn): Promise<boolean> {
    if (lease === undefined || this.background.find(owner, id) !== undefined) return false
    const { liveness } = this.store
    if (worker === liveness.id) return true
    const isAlive = worker === undefined ? undefined : await liveness.isAlive(worker)
    return isAlive === undefined ? lease <= Date.now() : !isAlive
  }

  /** Stores the end of an unfinished turn. If the turn has ended in the meantime, that outcome remains. */
  private async settle({ lease: _, worker: __, ...turn }: Turn, response: JsonObject): Promise<Turn> {
    const settled = { ...turn, response }
    if (await this.store.turns.advance(settled)) return settled
    const ended = await this.store.turns.find(turn.owner, turn.id)
    if (ended === undefined) throw this.notFoundError(turn.id)
    return ended
  }

  async remove(owner: string, id: string): Promise<JsonObject> {
    if (!this.format.isId(id)) throw this.notFoundError(id)
    await this.background.cancel(owner, id)
    const turn = await this.store.turns.find(owner, id)
    if (turn === undefined || !(await this.store.turns.drop(owner, id))) throw this.notFoundError(id)
    const copy = copyOf(turn)
    if (copy !== undefined) await this.copies.remove(copy)
    return this.format.deletionAnswer(id)
  }

  private notFoundError(id: string): GatewayError {
    return notFound(`${capitalized(this.format.noun)} with id '${id}' not found.`)
  }

  async input(owner: string, id: string, page: Page): Promise<JsonObject> {
    return paged((await this.turn(owner, id)).input.map(shownItem), page)
  }

  /**
   * Cancels an unfinished background response, no matter in which process it runs. Returns an ended response unchanged.
   */
  async cancel(owner: string, id: string): Promise<JsonObject> {
    const { format } = this
    if (!format.isId(id)) throw this.notFoundError(id)
    await this.background.cancel(owner, id)
    const turn = await this.turn(owner, id)
    if (turn.response['background'] !== true) throw invalid(`Cannot cancel a synchronous ${format.noun}.`)
    if (turn.lease === undefined) return format.publicForm(turn.response, [])
    const { response } = await this.settle(turn, format.endedAnswer(turn.response, 'cancelled', INTERRUPTED))
    return format.publicForm(response, [])
  }

  /** Rejects a continuation of an unfinished response. Throws GatewayError `conflict`. */
  async checkFinished(owner: string, id: string): Promise<void> {
    if (!(await this.store.turns.unfinished([id])).has(id)) return
    const turn = await this.turn(owner, id).catch(() => undefined)
    if (turn?.lease === undefined) return
    const { noun, previousField } = this.format
    const message = `Previous ${noun} with id '${id}' is still in progress. Wait until it has ended.`
    throw conflict(message, previousField, `previous_${noun}_in_progress`)
  }

  /**
   * Streams the events of a response after a sequence number: events that are stored, in progress, or rebuilt from the
   * response.
   */
  async resume(owner: string, id: string, after: number, reply: Reply, heartbeat: number): Promise<void> {
    const { format } = this
    const running = format.isId(id) ? this.background.find(owner, id) : undefined
    const source = running ?? (await this.sourceOf(owner, id, after))
    await resumeStream(format, source, reply, after, heartbeat)
  }

  private async sourceOf(owner: string, id: string, after: number): Promise<EventSource> {
    const { lease, response } = await this.turn(owner, id)
    if (lease !== undefined || (await this.store.events.count(owner, id)) > 0)
      return storedEvents(owner, id, this.store.events, () => this.turn(owner, id))
    if (response['background'] === true && after >= 0) throw EVENTS_FORGOTTEN
    return replayedResult(response)
  }
}

const INTERRUPTED = {
  message: 'The answer was interrupted: its process ended before the answer was complete.',
}

const EVENTS_FORGOTTEN = invalid(
  'The answer had more events than are stored, so its stream can only be replayed from the beginning.',
)

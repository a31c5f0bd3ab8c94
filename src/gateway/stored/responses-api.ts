import { conflict, type GatewayError, invalid, notFound } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { StoreView } from '../../store/lazy-store.ts'
import type { Turn } from '../../store/turns.ts'
import type { Reply } from '../call.ts'
import type { Background } from './background.ts'
import { type Copies, copyOf } from './copies.ts'
import { type Page, paged, shownItem } from './page.ts'
import { type EventSource, replayedResult, resumeStream, storedEvents } from './resume.ts'

/**
 * Actions on stored responses (docs/wire/responses.md#stored-responses). Throws GatewayError `not-found` for a response
 * of another owner.
 */
export class ResponsesApi {
  private readonly store: StoreView
  private readonly background: Background
  private readonly copies: Copies

  constructor(store: StoreView, background: Background, copies: Copies) {
    this.store = store
    this.background = background
    this.copies = copies
  }

  async response(owner: string, id: string): Promise<JsonObject> {
    return this.background.find(owner, id)?.response ?? (await this.turn(owner, id)).response
  }

  /** Reads a turn. A response whose process died before finishing it is marked as failed. */
  private async turn(owner: string, id: string): Promise<Turn> {
    const turn = await this.store.turns.find(owner, id)
    if (turn === undefined) throw unknown(id)
    return (await this.isOrphaned(turn))
      ? this.settled(turn, { ...turn.response, status: 'failed', error: INTERRUPTED })
      : turn
  }

  private async isOrphaned({ owner, id, lease, worker }: Turn): Promise<boolean> {
    if (lease === undefined || this.background.find(owner, id) !== undefined) return false
    const { liveness } = this.store
    if (worker === liveness.id || lease <= Date.now()) return true
    return worker !== undefined && (await liveness.isAlive(worker)) === false
  }

  /** Stores the end of an unfinished turn. If the turn has ended otherwise meanwhile, that outcome remains. */
  private async settled({ lease: _, worker: __, ...turn }: Turn, response: JsonObject): Promise<Turn> {
    const settled = { ...turn, response }
    if (await this.store.turns.advance(settled)) return settled
    const ended = await this.store.turns.find(turn.owner, turn.id)
    if (ended === undefined) throw unknown(turn.id)
    return ended
  }

  async remove(owner: string, id: string): Promise<JsonObject> {
    await this.background.cancel(owner, id)
    const turn = await this.store.turns.find(owner, id)
    if (turn === undefined || !(await this.store.turns.drop(owner, id))) throw unknown(id)
    const copy = copyOf(turn)
    if (copy !== undefined) await this.copies.remove(copy)
    return { id, object: 'response', deleted: true }
  }

  async input(owner: string, id: string, page: Page): Promise<JsonObject> {
    return paged((await this.turn(owner, id)).input.map(shownItem), page)
  }

  /**
   * Cancels an unfinished background response in whichever process it runs. An ended response is returned unchanged.
   */
  async cancel(owner: string, id: string): Promise<JsonObject> {
    await this.background.cancel(owner, id)
    const turn = await this.turn(owner, id)
    if (turn.response['background'] !== true) throw invalid('Cannot cancel a synchronous response.')
    if (turn.lease === undefined) return turn.response
    return (await this.settled(turn, { ...turn.response, status: 'cancelled' })).response
  }

  /** Rejects a continuation of an unfinished response. Throws GatewayError `conflict`. */
  async checkFinished(owner: string, id: string): Promise<void> {
    if (!(await this.store.turns.unfinished([id])).has(id)) return
    const turn = await this.turn(owner, id).catch(() => undefined)
    if (turn?.lease === undefined) return
    const message = `Previous response with id '${id}' is still in progress. Wait until it has ended.`
    throw conflict(message, 'previous_response_id', 'previous_response_in_progress')
  }

  /**
   * Streams a response after a sequence number: stored events, events in progress, or events rebuilt from the response.
   */
  async resume(owner: string, id: string, after: number, reply: Reply, heartbeat: number): Promise<void> {
    const source = this.background.find(owner, id) ?? (await this.sourceOf(owner, id, after))
    await resumeStream(source, reply, after, heartbeat)
  }

  private async sourceOf(owner: string, id: string, after: number): Promise<EventSource> {
    const { lease, response } = await this.turn(owner, id)
    if (lease !== undefined || (await this.store.events.count(owner, id)) > 0)
      return storedEvents(owner, id, this.store.events, () => this.turn(owner, id))
    if (response['background'] === true && after >= 0) throw FORGOTTEN
    return replayedResult(response)
  }
}

const INTERRUPTED: JsonObject = {
  code: 'server_error',
  message: 'The response was interrupted: its process ended before the response was complete.',
}

const unknown = (id: string): GatewayError => notFound(`Response with id '${id}' not found.`)

const FORGOTTEN = invalid(
  'The response had more events than are stored, so its stream can only be replayed from the beginning.',
  'starting_after',
)

import { GatewayError } from '../../canonical/error.ts'
import { unfold } from '../../canonical/fold.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { WRITERS } from '../../egress/index.ts'
import { READERS } from '../../ingress/index.ts'
import type { Turn, Turns } from '../../store/turns.ts'
import type { Reply } from '../call.ts'
import type { Background } from './background.ts'
import { type Page, paged, shownItem } from './page.ts'
import { abandoned, ending } from './run.ts'
import { Tape, tapeOf } from './tape.ts'

/** Milliseconds between two looks at a response another process works on. */
const LOOK = 500

/** What can be asked of kept responses (FORMATS §4). */
export class Desk {
  private readonly turns: Turns
  private readonly background: Background

  constructor(turns: Turns, background: Background) {
    this.turns = turns
    this.background = background
  }

  /** Throws GatewayError `not-found`, as all here do, for what is not the owner's. */
  async response(owner: string, id: string): Promise<JsonObject> {
    return this.background.find(owner, id)?.response ?? (await this.turn(owner, id)).response
  }

  /** Whoever worked on it and is not heard of any more has failed. */
  private async turn(owner: string, id: string): Promise<Turn> {
    const turn = await this.turns.find(owner, id)
    if (turn === undefined) throw unknown(id)
    if (turn.lease === undefined || turn.lease > Date.now() || this.background.find(owner, id) !== undefined)
      return turn
    return this.settled(turn, abandoned(turn.response))
  }

  private async settled({ lease: _, ...turn }: Turn, response: JsonObject): Promise<Turn> {
    const settled = { ...turn, response }
    await this.turns.keep(settled)
    return settled
  }

  async remove(owner: string, id: string): Promise<JsonObject> {
    await this.background.cancel(owner, id)
    if (!(await this.turns.drop(owner, id))) throw unknown(id)
    return { id, object: 'response', deleted: true }
  }

  async input(owner: string, id: string, page: Page): Promise<JsonObject> {
    return paged((await this.turn(owner, id)).input.map(shownItem), page)
  }

  /** Only what is in the making can be cancelled; what is cancelled already stays so. */
  async cancel(owner: string, id: string): Promise<JsonObject> {
    const stopped = await this.background.cancel(owner, id)
    if (stopped !== undefined) return stopped
    const turn = await this.turn(owner, id)
    if (turn.response['background'] !== true)
      throw new GatewayError({ kind: 'invalid-request', message: 'Cannot cancel a synchronous response.' })
    if (turn.lease === undefined) return turn.response
    return (await this.settled(turn, { ...turn.response, status: 'cancelled' })).response
  }

  /** The stream of a response from after the event of that number: as it was, as it goes on, or as it would have been. */
  async play(owner: string, id: string, after: number, reply: Reply, heartbeat: number): Promise<void> {
    const tape = this.background.find(owner, id)?.tape ?? (await this.tapeOf(owner, id, reply))
    await tape.play(reply, after, heartbeat)
  }

  private async tapeOf(owner: string, id: string, reply: Reply): Promise<Tape> {
    let turn = await this.turn(owner, id)
    while (turn.lease !== undefined && !reply.gone) {
      await new Promise(resolve => setTimeout(resolve, LOOK))
      turn = await this.turn(owner, id)
    }
    return turn.tape === undefined ? replayed(turn.response) : tapeOf(turn.tape, ending(turn.response))
  }
}

/** The stream an answer could have been told as. */
function replayed(response: JsonObject): Tape {
  const asked = { model: '', messages: [], output: {}, sampling: {}, stream: true }
  const result = READERS['responses']!.result!({ status: 200, headers: {}, body: response }, asked)
  const writer = WRITERS['responses']!.events!(asked)
  const tape = new Tape()
  for (const event of unfold(result)) for (const written of writer.push(event)) tape.push(written)
  for (const written of writer.end()) tape.push(written)
  tape.finish()
  return tape
}

const unknown = (id: string): GatewayError =>
  new GatewayError({ kind: 'not-found', message: `Response with id '${id}' not found.` })

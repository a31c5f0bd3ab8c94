import { GatewayError } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate } from '../../router.ts'
import type { Conversations } from '../../store/conversations.ts'
import { outputOf, type Turn, type Turns } from '../../store/turns.ts'
import { freshId } from '../fresh-id.ts'
import type { Log } from '../report.ts'
import { named } from './items.ts'

/** What is known of a turn before it is answered. */
export interface Beginning {
  readonly owner: string
  /** The items it adds. */
  readonly input: readonly JsonObject[]
  readonly previous: string | undefined
  readonly conversation: string | undefined
  /** As the caller made it. */
  readonly request: CanonicalRequest
}

/** Where turns are kept, and for how long. */
export interface Places {
  readonly turns: readonly Turns[]
  readonly conversations: Conversations | undefined
  /** Milliseconds. */
  readonly lifetime: number
  readonly log: Log
}

/** Keeps one answer, so that it can be asked for and continued. */
export class Keeper {
  /** The name of the answer, where no upstream's is good for asking again. */
  readonly id = `resp_${freshId()}`
  /** Answers are kept as they are sent; those of the background by whoever works on them. */
  saves = true
  private readonly beginning: Beginning
  private readonly places: Places
  private readonly input: readonly JsonObject[]
  private readonly createdAt = Date.now()
  private origin: Pick<Turn, 'channel' | 'remembered'> = {}

  constructor(beginning: Beginning, places: Places) {
    this.beginning = beginning
    this.places = places
    this.input = beginning.input.map(named)
  }

  get owner(): string {
    return this.beginning.owner
  }

  /** Whose answer it is. */
  madeBy(candidate: Candidate): void {
    this.origin = originOf(candidate, this.beginning.request)
  }

  /** Keeps the answer before it is told, and says whether it is. Never rejects: an answer is told all the same. */
  async keep(response: JsonObject, more: Pick<Turn, 'lease' | 'tape'> = {}): Promise<boolean> {
    const { turns, conversations, lifetime, log } = this.places
    const { owner, previous, conversation } = this.beginning
    const { id } = response
    if (typeof id !== 'string' || id === '') return false
    const expiresAt = Date.now() + lifetime
    const turn: Turn = {
      ...{ owner, id, response, input: this.input, createdAt: this.createdAt, expiresAt },
      ...(previous === undefined ? {} : { previous }),
      ...this.origin,
      ...more,
    }
    try {
      for (const memory of turns) await memory.keep(turn)
      if (conversation !== undefined && more.lease === undefined)
        await conversations?.add(owner, conversation, [...this.input, ...outputOf(turn).map(named)], expiresAt)
      return true
    } catch (err) {
      // A fault of the store is logged where it is met.
      if (!(err instanceof GatewayError)) log.error({ err }, 'a response cannot be kept')
      return false
    }
  }
}

/** Who made an answer, and whether that upstream knows it by its id. */
function originOf({ native, format, channel }: Candidate, { state }: CanonicalRequest) {
  if (!native) return {}
  const remembered = format.dialect['stateless'] !== true && state?.store !== false && state?.background !== true
  return { channel: channel.name, ...(remembered ? { remembered: true as const } : {}) }
}

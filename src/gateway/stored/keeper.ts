import { GatewayError } from '../../canonical/error.ts'
import { defined, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Log } from '../../log.ts'
import type { StoreView } from '../../store/lazy-store.ts'
import { outputOf, type Turn, type Turns } from '../../store/turns.ts'
import { timedId } from '../../store/usage/request-id.ts'
import type { Target } from '../../upstreams/router.ts'
import type { UpstreamCopy } from './copies.ts'
import { named } from './items.ts'

/** A turn before it is answered. */
export interface Beginning {
  readonly owner: string
  /** The items that the turn adds. */
  readonly input: readonly JsonObject[]
  readonly previous: string | undefined
  readonly conversation: string | undefined
  /** The request as the caller sent it. */
  readonly request: CanonicalRequest
}

/** The repositories for turns and the time they are stored. */
export interface Places {
  readonly turns: readonly Turns[]
  /** Stores conversations and background events; undefined if only a socket holds the turns. */
  readonly store: Pick<StoreView, 'conversations' | 'events'> | undefined
  /** Milliseconds a turn is stored. */
  readonly lifetime: number
  readonly log: Log
}

/** The process that works on a turn and its lease; absent once the turn has ended. */
type Progress = Pick<Turn, 'lease' | 'worker'>

/** An upstream's copy of an answer under a different id. */
interface Copy extends UpstreamCopy {
  /** Whether the upstream works on the copy in the background. */
  readonly background: boolean
}

/** Stores one answer, so that it can be retrieved and continued. */
export class Keeper {
  /** Id for an answer that cannot be retrieved under the upstream's id. */
  readonly id = `resp_${timedId()}`
  /** Whether answers are stored when they are sent; the run stores a background answer itself. */
  saves = true
  private readonly beginning: Beginning
  private readonly places: Places
  private readonly input: readonly JsonObject[]
  private readonly createdAt = Date.now()
  private origin: Pick<Turn, 'channel' | 'remembered'> = {}
  /** The upstream's copy under a different id. */
  copy: Copy | undefined

  constructor(beginning: Beginning, places: Places) {
    this.beginning = beginning
    this.places = places
    this.input = beginning.input.map(named)
  }

  get owner(): string {
    return this.beginning.owner
  }

  /** Notes the target that produced the answer. */
  madeBy(target: Target): void {
    this.origin = originOf(target, this.beginning.request)
    this.copy = undefined
  }

  /** The answer's origin. No upstream knows an id that was generated here. */
  private originOf(id: string): Keeper['origin'] {
    const { remembered: _, ...origin } = this.origin
    return id === this.id ? origin : this.origin
  }

  /**
   * Stores the answer before it is sent; returns whether it was stored. Never rejects, because the answer is sent in
   * any case.
   */
  async keep(response: JsonObject, more: Progress = {}): Promise<boolean> {
    const { id } = response
    if (typeof id !== 'string' || id === '') return false
    return (await this.store('keep', this.turnOf(id, response, more))) === true
  }

  /**
   * Stores the progress of a background answer or, without a lease, its end. Returns false if the answer was cancelled
   * or deleted, undefined if the store fails. Never rejects.
   */
  async advance(response: JsonObject, more: Progress = {}): Promise<boolean | undefined> {
    return this.store('advance', this.turnOf(this.id, response, more))
  }

  private store(how: 'keep' | 'advance', turn: Turn): Promise<boolean | undefined> {
    return this.tried(async () => {
      for (const memory of this.places.turns) if ((await memory[how](turn)) === false) return false
      if (turn.lease === undefined) await this.addToConversation(turn)
      return true
    })
  }

  /** Stores events of a background answer, with the results of `advance`. */
  async note(first: number, texts: readonly string[]): Promise<boolean | undefined> {
    return this.tried(async () => (await this.places.store?.events.add(this.owner, this.id, first, texts)) ?? false)
  }

  /** Reads a batch of stored events from a sequence number on. */
  async events(number: number): Promise<readonly string[]> {
    return (await this.places.store?.events.from(this.owner, this.id, number)) ?? []
  }

  /** Deletes the stored events of the answer. */
  async forgetEvents(): Promise<void> {
    await this.tried(async () => this.places.store?.events.drop(this.owner, this.id))
  }

  /** Reads the turn from the store. */
  async kept(): Promise<Turn | undefined> {
    return this.tried(async () => this.places.turns[0]?.find(this.owner, this.id))
  }

  private turnOf(id: string, response: JsonObject, more: Progress): Turn {
    const { owner, previous } = this.beginning
    return {
      ...{ owner, id, response, input: this.input, createdAt: this.createdAt },
      expiresAt: Date.now() + this.places.lifetime,
      ...defined({ previous, copy: this.copy?.id }),
      ...this.originOf(id),
      ...more,
    }
  }

  private async addToConversation(turn: Turn): Promise<void> {
    const { owner, conversation } = this.beginning
    if (conversation === undefined) return
    const items = [...this.input, ...outputOf(turn).map(named)]
    await this.places.store?.conversations.add(owner, conversation, items, turn.expiresAt)
  }

  private async tried<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (err) {
      // The store logs its own faults.
      if (!(err instanceof GatewayError)) this.places.log.error({ err }, 'a response could not be stored')
      return undefined
    }
  }
}

/** The channel of an answer, and whether its upstream stores the answer under the same id. */
function originOf({ native, format, channel }: Target, { state }: CanonicalRequest) {
  if (!native) return {}
  const remembered = format.dialect['stateless'] !== true && state?.store !== false && state?.background !== true
  return { channel: channel.name, ...(remembered ? { remembered: true as const } : {}) }
}

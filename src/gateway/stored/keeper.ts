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
  /** Where conversations and the events of the background are; undefined where only a socket has the turns. */
  readonly store: Pick<StoreView, 'conversations' | 'events'> | undefined
  /** Milliseconds. */
  readonly lifetime: number
  readonly log: Log
}

/** Who works on a turn, and until when that holds; absent when it has ended. */
type Progress = Pick<Turn, 'lease' | 'worker'>

/** What an upstream stores of an answer under a separate id. */
interface Copy extends UpstreamCopy {
  /** The upstream works on it in the background. */
  readonly background: boolean
}

/** Stores one answer, so that it can be retrieved and continued. */
export class Keeper {
  /** The id of the answer, where it cannot be retrieved by the upstream's. */
  readonly id = `resp_${timedId()}`
  /** Answers are kept as they are sent; those of the background by their run. */
  saves = true
  private readonly beginning: Beginning
  private readonly places: Places
  private readonly input: readonly JsonObject[]
  private readonly createdAt = Date.now()
  private origin: Pick<Turn, 'channel' | 'remembered'> = {}
  /** What the upstream stores of it under a separate id. */
  copy: Copy | undefined

  constructor(beginning: Beginning, places: Places) {
    this.beginning = beginning
    this.places = places
    this.input = beginning.input.map(named)
  }

  get owner(): string {
    return this.beginning.owner
  }

  /** Whose answer it is. */
  madeBy(target: Target): void {
    this.origin = originOf(target, this.beginning.request)
    this.copy = undefined
  }

  /** No upstream has an answer under an id that was generated here. */
  private originOf(id: string): Keeper['origin'] {
    const { remembered: _, ...origin } = this.origin
    return id === this.id ? origin : this.origin
  }

  /** Stores the answer before it is sent, and gives whether it did. Never rejects: an answer is sent all the same. */
  async keep(response: JsonObject, more: Progress = {}): Promise<boolean> {
    const { id } = response
    if (typeof id !== 'string' || id === '') return false
    return (await this.store('keep', this.turnOf(id, response, more))) === true
  }

  /**
   * Keeps how far an answer in the background has come or, without a lease, how it ended. False where it was
   * cancelled or deleted, undefined where it cannot be kept. Never rejects.
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

  /** Keeps events of an answer in the background, as `advance` does. */
  async note(first: number, texts: readonly string[]): Promise<boolean | undefined> {
    return this.tried(async () => (await this.places.store?.events.add(this.owner, this.id, first, texts)) ?? false)
  }

  /** The events of an answer that are kept, from that number on, some of them at a time. */
  async events(number: number): Promise<readonly string[]> {
    return (await this.places.store?.events.from(this.owner, this.id, number)) ?? []
  }

  /** Forgets the events of an answer. */
  async forgetEvents(): Promise<void> {
    await this.tried(async () => this.places.store?.events.drop(this.owner, this.id))
  }

  /** The turn as the store has it. */
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
      // A fault of the store is logged where it is met.
      if (!(err instanceof GatewayError)) this.places.log.error({ err }, 'a response cannot be kept')
      return undefined
    }
  }
}

/** The channel of an answer, and whether its upstream has it under its id. */
function originOf({ native, format, channel }: Target, { state }: CanonicalRequest) {
  if (!native) return {}
  const remembered = format.dialect['stateless'] !== true && state?.store !== false && state?.background !== true
  return { channel: channel.name, ...(remembered ? { remembered: true as const } : {}) }
}

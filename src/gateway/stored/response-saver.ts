import { GatewayError } from '../../canonical/error.ts'
import { defined, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Log } from '../../log.ts'
import type { NewEvents } from '../../store/events.ts'
import type { StoreView } from '../../store/lazy-store.ts'
import { type Addition, outputOf, type Turn, type Turns } from '../../store/turns.ts'
import { accountName } from '../../upstreams/accounts-of-channels.ts'
import type { Target } from '../../upstreams/router.ts'
import type { UpstreamCopy } from './copies.ts'
import { withId } from './items.ts'
import type { StoredFormat } from './stored-format.ts'

/** A turn before it is answered. */
export interface NewTurn {
  readonly format: StoredFormat
  readonly owner: string
  /** Items that the turn adds. */
  readonly input: readonly JsonObject[]
  readonly previous: string | undefined
  readonly conversation: string | undefined
  /** The request as the caller sent it. */
  readonly request: CanonicalRequest
}

/** Repositories of turns, and the time for which turns are stored. */
export interface Repositories {
  readonly turns: readonly Turns[]
  /** Store of background events. Undefined if only a socket holds the turns. */
  readonly store: Pick<StoreView, 'events'> | undefined
  /** Time for which a turn is stored, in milliseconds. */
  readonly lifetime: number
  readonly log: Log
}

/** Process that works on a turn, and its lease. Absent once the turn has ended. */
type Progress = Pick<Turn, 'lease' | 'worker'>

/** An upstream's copy of an answer under a different id. */
interface Copy extends UpstreamCopy {
  /** True if the upstream generates the copy in the background. */
  readonly background: boolean
}

/** Stores one answer, so that it can be retrieved and continued. */
export class ResponseSaver {
  /** Id for an answer that cannot be retrieved under the upstream's id. */
  readonly id: string
  /** True if the answer is stored when it is sent. Background answers are stored by their run instead. */
  savesWhenSent = true
  private readonly newTurn: NewTurn
  private readonly repositories: Repositories
  private readonly input: readonly JsonObject[]
  private readonly createdAt = Date.now()
  private producer: Pick<Turn, 'channel' | 'remembered'> = {}
  /** The upstream's copy under a different id. */
  copy: Copy | undefined

  constructor(newTurn: NewTurn, repositories: Repositories) {
    this.newTurn = newTurn
    this.repositories = repositories
    this.id = newTurn.format.newId()
    this.input = newTurn.input.map(newTurn.format.storedItem)
  }

  get format(): StoredFormat {
    return this.newTurn.format
  }

  /** The input items of the turn. */
  get items(): readonly JsonObject[] {
    return this.input
  }

  get owner(): string {
    return this.newTurn.owner
  }

  /** Records the target that produced the answer. */
  setTarget(target: Target): void {
    this.producer = producerOf(target, this.newTurn.request)
    this.copy = undefined
  }

  /** Returns the producer of the answer. No upstream stores an answer under an id that was generated here. */
  private producerOf(id: string): ResponseSaver['producer'] {
    const { remembered: _, ...producer } = this.producer
    return id === this.id ? producer : this.producer
  }

  /**
   * Stores the answer before it is sent, and returns whether it was stored. Never rejects, because the answer is sent
   * in any case.
   */
  async save(response: JsonObject, progress: Progress = {}, events?: NewEvents): Promise<boolean> {
    const { id } = response
    if (typeof id !== 'string' || id === '') return false
    return (await this.store('put', this.turnOf(id, response, progress), events)) === true
  }

  /**
   * Stores the progress of a background answer with new events, or its end if there is no lease. Returns false if the
   * answer was cancelled or deleted, undefined if the store fails. Never rejects.
   */
  async advance(response: JsonObject, progress: Progress, events: NewEvents): Promise<boolean | undefined> {
    return this.store('advance', this.turnOf(this.id, response, progress), events)
  }

  private store(method: 'put' | 'advance', turn: Turn, events?: NewEvents): Promise<boolean | undefined> {
    return this.ignoringFaults(async () => {
      const addition = turn.lease === undefined ? this.additionOf(turn) : undefined
      for (const repository of this.repositories.turns)
        if ((await repository[method](turn, events, addition)) === false) return false
      return true
    })
  }

  /** Stores events of a background answer. Returns the same results as `advance`. */
  async addEvents(events: NewEvents): Promise<boolean | undefined> {
    return this.ignoringFaults(
      async () => (await this.repositories.store?.events.add(this.owner, this.id, events)) ?? false,
    )
  }

  /** Reads a batch of stored events, starting at a sequence number. */
  async events(number: number): Promise<readonly string[]> {
    return (await this.repositories.store?.events.from(this.owner, this.id, number)) ?? []
  }

  /** Deletes the stored events of the answer. Returns false if the store fails. Never rejects. */
  async forgetEvents(): Promise<boolean> {
    const isDone = await this.ignoringFaults(async () => {
      await this.repositories.store?.events.drop(this.owner, this.id)
      return true
    })
    return isDone === true
  }

  /** Reads the turn from the store. Undefined if the store fails. Never rejects. */
  async stored(): Promise<Turn | 'deleted' | undefined> {
    return this.ignoringFaults(
      async () => (await this.repositories.turns[0]?.find(this.owner, this.id)) ?? ('deleted' as const),
    )
  }

  private turnOf(id: string, response: JsonObject, progress: Progress): Turn {
    const { owner, previous } = this.newTurn
    return {
      ...{ owner, id, response, input: this.input, createdAt: this.createdAt },
      expiresAt: Date.now() + this.repositories.lifetime,
      ...defined({ previous, copy: this.copy?.id }),
      ...this.producerOf(id),
      ...progress,
    }
  }

  /** Returns what the end of a turn adds to the conversation that it continues. */
  private additionOf(turn: Turn): Addition | undefined {
    const { conversation } = this.newTurn
    if (conversation === undefined) return undefined
    return { conversation, items: [...this.input, ...outputOf(turn).map(withId)] }
  }

  private async ignoringFaults<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (err) {
      // The store logs its own faults.
      if (!(err instanceof GatewayError)) this.repositories.log.error({ err }, 'a response could not be stored')
      return undefined
    }
  }
}

/** Returns the channel of an answer, and whether the upstream stores the answer under the same id. */
function producerOf({ native, format, channel }: Target, { state }: CanonicalRequest) {
  if (!native) return {}
  const remembered = format.dialect['stateless'] !== true && state?.store !== false && state?.background !== true
  return { channel: accountName(channel), ...(remembered ? { remembered: true as const } : {}) }
}

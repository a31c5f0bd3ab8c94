import { randomUUID } from 'node:crypto'
import { setImmediate as breath } from 'node:timers/promises'
import { hashOf } from '../../config/hash.ts'
import type { ReasoningChange, SharedRecords } from '../../store/shared-records.ts'
import { encryptText, type GatewaySecret } from '../gateway-secret.ts'
import type { AnswerReasoning, CallKeys } from './types.ts'

/** Maximum number of changes that wait for the store. Further changes are dropped. */
const MAX_CHANGES = 2000
/** Maximum number of characters of all waiting changes. */
const MAX_SIZE = 16 * 1024 * 1024
/** Maximum number of changes per transaction. */
const BATCH_SIZE = 50

/** A queued change, encrypted when it is written. */
interface QueuedChange {
  readonly owner: string
  readonly keys: readonly CallKeys[]
  /** Reasoning as JSON. Absent if the change deletes the keys. */
  readonly text?: string
  readonly expiresAt: number
}

/** Writes reasoning to the store for other instances, in batches, without delaying requests. */
export class ReasoningJournal {
  private readonly records: Pick<SharedRecords, 'changeReasoning'>
  private readonly secret: GatewaySecret
  private readonly onFault: (thrown: unknown) => void
  private queue: QueuedChange[] = []
  private size = 0
  private writing: Promise<void> | undefined
  /** Number of changes not stored because the queue was full or the store failed. */
  dropped = 0

  /** @param onFault receives the reason when a change is dropped. */
  constructor(
    records: Pick<SharedRecords, 'changeReasoning'>,
    secret: GatewaySecret,
    onFault: (thrown: unknown) => void,
  ) {
    this.records = records
    this.secret = secret
    this.onFault = onFault
  }

  /**
   * Queues the reasoning of one answer.
   *
   * @param expiresAt Unix time in milliseconds.
   */
  save(owner: string, keys: readonly CallKeys[], reasoning: AnswerReasoning, expiresAt: number): void {
    this.add({ owner, keys, text: JSON.stringify({ keys, thoughts: reasoning }), expiresAt })
  }

  /** Queues the deletion of an owner's keys. */
  forget(owner: string, keys: readonly CallKeys[]): void {
    this.add({ owner, keys, expiresAt: 0 })
  }

  /** Resolves when everything queued so far is written. */
  async idle(): Promise<void> {
    await this.writing
  }

  private add(change: QueuedChange): void {
    const size = change.text?.length ?? 0
    if (this.queue.length >= MAX_CHANGES || this.size + size > MAX_SIZE) {
      this.dropped++
      return this.onFault(QUEUE_FULL)
    }
    this.queue.push(change)
    this.size += size
    this.writing ??= this.write().finally(() => {
      this.writing = undefined
    })
  }

  private async write(): Promise<void> {
    while (this.queue.length > 0) {
      await breath()
      const batch = this.queue.slice(0, BATCH_SIZE)
      this.queue = this.queue.slice(BATCH_SIZE)
      for (const { text } of batch) this.size -= text?.length ?? 0
      try {
        const key = await this.secret.load()
        await this.records.changeReasoning(batch.map(change => changeOf(change, key)))
      } catch (thrown) {
        this.dropped += batch.length
        this.onFault(thrown)
      }
    }
  }
}

const QUEUE_FULL = new Error('The queue of reasoning to be stored is full.')

function changeOf({ owner, keys, text, expiresAt }: QueuedChange, key: Buffer): ReasoningChange {
  const names = namesOf(owner, keys)
  if (text === undefined) return { names }
  return {
    names,
    reasoning: {
      id: randomUUID(),
      text: encryptText(key, text, authenticatedDataOf(owner)).toString('base64'),
      expiresAt,
    },
  }
}

/** Returns the stored name of an owner's call: a hash that reveals neither the owner nor the call. */
export const nameOf = (owner: string, key: string): string => hashOf(`${owner}\n${key}`)

const namesOf = (owner: string, keys: readonly CallKeys[]): readonly (readonly string[])[] =>
  keys.map(callKeys => callKeys.map(key => nameOf(owner, key)))

/** Returns the additional authenticated data that binds encrypted reasoning to its owner. */
export const authenticatedDataOf = (owner: string): Buffer => Buffer.from(`interlingua thoughts\n${owner}`)

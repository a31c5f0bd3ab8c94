import { GatewayError } from '../../canonical/error.ts'
import { LogOnce } from '../../log.ts'
import type { FoundReasoning, SharedRecords } from '../../store/shared-records.ts'
import { decryptText, type GatewaySecret } from '../gateway-secret.ts'
import { AbsentNames } from './absent-names.ts'
import { isPositionKey } from './call-keys.ts'
import { authenticatedDataOf, nameOf, ReasoningJournal } from './reasoning-journal.ts'
import type { AnswerReasoning, CallKeys } from './types.ts'

/** Maximum time for which a request waits for the reasoning of other instances, in milliseconds. */
const FETCH_TIMEOUT = 500

/** Options of `SharedReasoning`. */
export interface SharedReasoningOptions {
  readonly records: Pick<SharedRecords, 'changeReasoning' | 'reasoning'>
  readonly secret: GatewaySecret
  /** Called once per kind of fault that prevents reading or storing reasoning. */
  readonly onFault: (thrown: unknown) => void
  readonly now?: () => number
}

/** The reasoning of an answer that another instance received. */
export interface FetchedReasoning {
  /** Keys of each call, in the order of the steps. */
  readonly keys: readonly CallKeys[]
  readonly thoughts: AnswerReasoning
}

/**
 * Shares reasoning with other instances through the store. The reasoning is encrypted with the gateway's secret and
 * found by hashes of call keys.
 */
export class SharedReasoning {
  readonly journal: ReasoningJournal
  private readonly options: SharedReasoningOptions
  private readonly now: () => number
  private readonly absent: AbsentNames
  private readonly onFault: (thrown: unknown) => void

  constructor(options: SharedReasoningOptions) {
    this.options = options
    this.now = options.now ?? Date.now
    this.absent = new AbsentNames(this.now)
    const faults = new LogOnce(options.onFault)
    this.onFault = thrown => {
      // The store reports its own faults.
      if (!(thrown instanceof GatewayError)) faults.log(thrown)
    }
    this.journal = new ReasoningJournal(options.records, options.secret, this.onFault)
  }

  /**
   * Stores the reasoning of one answer in the background.
   *
   * @param lifetime retention time in milliseconds.
   */
  save(owner: string, keys: readonly CallKeys[], reasoning: AnswerReasoning, lifetime: number): void {
    this.journal.save(owner, keys, reasoning, this.now() + lifetime)
  }

  /**
   * Removes keys whose calls were made without reasoning. Only position keys can recur in other answers, so only these
   * need to be deleted from the store.
   */
  forget(owner: string, keys: readonly CallKeys[]): void {
    const positions = keys.map(callKeys => callKeys.filter(isPositionKey)).filter(({ length }) => length > 0)
    if (positions.length > 0) this.journal.forget(owner, positions)
    for (const key of keys.flat()) this.absent.add(nameOf(owner, key), !isPositionKey(key))
  }

  /** Returns true if the store may have the key. */
  mayHave(owner: string, key: string): boolean {
    return !this.absent.has(nameOf(owner, key))
  }

  /** Reads the reasoning stored under any of the keys, empty if the store does not answer in time. Never rejects. */
  async find(owner: string, keys: readonly string[]): Promise<readonly FetchedReasoning[]> {
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<readonly FetchedReasoning[]>(resolve => {
      timer = setTimeout(resolve, FETCH_TIMEOUT, NO_REASONING)
    })
    try {
      return await Promise.race([this.readStored(owner, keys), timeout])
    } finally {
      clearTimeout(timer)
    }
  }

  private async readStored(owner: string, keys: readonly string[]): Promise<readonly FetchedReasoning[]> {
    const names = keys.map(key => nameOf(owner, key))
    try {
      const rows = await this.options.records.reasoning(names)
      const present = new Set(rows.flatMap(row => row.names.map(({ name }) => name)))
      for (const name of names) if (!present.has(name)) this.absent.add(name, false)
      if (rows.length === 0) return NO_REASONING
      const secret = await this.options.secret.load()
      return rows.flatMap(row => decryptedRow(row, owner, secret))
    } catch (thrown) {
      this.onFault(thrown)
      return NO_REASONING
    }
  }
}

const NO_REASONING: readonly FetchedReasoning[] = []

/** Decrypts a row. Drops keys that have since been deleted or now belong to another answer. */
function decryptedRow({ text, names }: FoundReasoning, owner: string, secret: Buffer): readonly FetchedReasoning[] {
  const plain = decryptText(secret, Buffer.from(text, 'base64'), authenticatedDataOf(owner))
  if (plain === undefined) return NO_REASONING
  const { keys, thoughts } = JSON.parse(plain) as FetchedReasoning
  const valid = new Set(names.map(({ name }) => name))
  return [{ keys: keys.map(callKeys => callKeys.filter(key => valid.has(nameOf(owner, key)))), thoughts }]
}

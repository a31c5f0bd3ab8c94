import { hash } from 'node:crypto'
import { putNewest } from '../../canonical/bounded-map.ts'
import type { Signature } from '../../canonical/content.ts'
import { GatewayError } from '../../canonical/error.ts'
import type { Json } from '../../canonical/node.ts'
import type { ChannelConfig } from '../../config/index.ts'
import { LogOnce } from '../../log.ts'
import type { Bus } from '../../store/cluster/bus.ts'
import type { SharedRecords } from '../../store/shared-records.ts'
import { AbsentNames } from './absent-names.ts'
import { signerOf } from './issuer.ts'

/** Time for which the account of a signature is stored, in milliseconds. */
const SIGNATURE_LIFETIME = 7 * 24 * 3_600_000
/** Maximum number of signatures that are remembered in memory. The oldest are forgotten first. */
const MAX_REMEMBERED = 100_000
/** Maximum number of signatures that wait for the store. Further signatures are only remembered in memory. */
const MAX_WAITING = 10_000
/** Maximum time for which a request waits for the store, in milliseconds. */
const LOOKUP_TIMEOUT = 500

/** Options of `Signers`. */
export interface SignersOptions {
  readonly records: Pick<SharedRecords, 'putSignatures' | 'signatures' | 'hasSignatures'>
  readonly bus: Bus
  /** Returns true if signatures may be stored. If not, they are forgotten at a restart. */
  readonly isStored: () => boolean
  /** Called once per kind of fault. Faults never fail a request. */
  readonly onFault: (thrown: unknown) => void
}

/**
 * Remembers which account issued a reasoning signature, so that no other account receives it, even if the client
 * returns it (trap 33). Holds only hashes. Other instances and later processes find them in the store.
 */
export class Signers {
  private readonly options: SignersOptions
  private readonly signerByHash = new Map<string, string>()
  private readonly absent = new AbsentNames(Date.now)
  private readonly faults: LogOnce
  private readonly unsubscribe: () => void
  private queue = new Map<string, string>()
  private writing: Promise<void> | undefined
  private isNeeded = false

  constructor(options: SignersOptions, channels: readonly ChannelConfig[]) {
    this.options = options
    this.faults = new LogOnce(options.onFault)
    this.unsubscribe = options.bus.subscribe('signatures', message => this.apply(message))
    this.reload(channels)
  }

  /** Returns this object if signatures may belong to different accounts, or undefined if there is only one account. */
  get ifNeeded(): Signers | undefined {
    return this.isNeeded ? this : undefined
  }

  /** Applies new channels. Signatures may also belong to accounts that are no longer configured. */
  reload(channels: readonly ChannelConfig[]): void {
    this.isNeeded ||= hasSeveralAccounts(channels)
  }

  /** Looks for stored signatures, which may belong to accounts that are no longer configured. */
  async open(): Promise<void> {
    this.isNeeded ||= await this.guarded(this.options.records.hasSignatures(), false)
  }

  /** Returns the account that issued a signature: the result of `signerOf`, or undefined if the account is unknown. */
  of(signature: Signature): string | undefined {
    return this.signerByHash.get(hashOf(signature))
  }

  /** Records the account that issued a signature. */
  recordSigner(signature: Signature, signer: string): void {
    const name = hashOf(signature)
    if (this.signerByHash.get(name) === signer) return
    putNewest(this.signerByHash, name, signer, MAX_REMEMBERED)
    this.options.bus.publish('signatures', [name, signer])
    if (!this.options.isStored() || this.queue.size >= MAX_WAITING) return
    this.queue.set(name, signer)
    this.writing ??= this.write().finally(() => {
      this.writing = undefined
    })
  }

  /**
   * Looks up the accounts of signatures that this process does not know. Returns undefined if there are none to look
   * up.
   */
  fetch(signatures: readonly Signature[]): Promise<void> | undefined {
    const unknown = signatures.map(hashOf).filter(name => !this.signerByHash.has(name) && !this.absent.has(name))
    return unknown.length === 0 ? undefined : this.find(unknown)
  }

  /** Waits until all signatures so far are stored, but at most a few seconds. */
  async close(): Promise<void> {
    this.unsubscribe()
    if (this.writing !== undefined) await Promise.race([this.writing, valueAfter(undefined, 3000)])
  }

  private async find(names: readonly string[]): Promise<void> {
    const found = await this.guarded(
      Promise.race([this.options.records.signatures(names), valueAfter(undefined, LOOKUP_TIMEOUT)]),
      undefined,
    )
    if (found === undefined) return
    for (const name of names) {
      const signer = found.get(name)
      if (signer === undefined) this.absent.add(name, false)
      else putNewest(this.signerByHash, name, signer, MAX_REMEMBERED)
    }
  }

  private apply(message: Json): void {
    if (!Array.isArray(message)) return
    const [name, signer] = message
    if (typeof name === 'string' && typeof signer === 'string')
      putNewest(this.signerByHash, name, signer, MAX_REMEMBERED)
  }

  /** Writes all waiting signatures, one transaction at a time. */
  private async write(): Promise<void> {
    await new Promise(resolve => setImmediate(resolve))
    while (this.queue.size > 0) {
      const batch = this.queue
      this.queue = new Map()
      const expiresAt = Date.now() + SIGNATURE_LIFETIME
      const records = [...batch].map(([name, issuer]) => ({ hash: name, issuer, expiresAt }))
      await this.guarded(this.options.records.putSignatures(records), undefined)
    }
  }

  /** Resolves to `fallback` after a fault. The store reports its own faults. */
  private async guarded<T>(work: Promise<T>, fallback: T): Promise<T> {
    try {
      return await work
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) this.faults.log(thrown)
      return fallback
    }
  }
}

/** Returns true if two channels, or two keys of a pool, use the same format with different accounts. */
function hasSeveralAccounts(channels: readonly ChannelConfig[]): boolean {
  const byFormat = new Map<string, string>()
  for (const channel of channels.flatMap(channel => channel.keys ?? [channel]))
    for (const format of channel.formats) {
      const signer = signerOf({ channel, format })
      if (byFormat.getOrInsert(format.format, signer) !== signer) return true
    }
  return false
}

const hashes = new WeakMap<Signature, string>()

/** Returns the hash by which a signature is found, computed once per object. */
const hashOf = (signature: Signature): string => {
  let name = hashes.get(signature)
  if (name === undefined)
    hashes.set(signature, (name = hash('sha256', excerptOf(signature.value), 'base64url').slice(0, 22)))
  return name
}

/** Number of characters hashed at either end of a long signature. Both ends of a ciphertext are unique. */
const END_LENGTH = 1024

const excerptOf = (value: string): string =>
  value.length <= 2 * END_LENGTH ? value : `${value.length} ${value.slice(0, END_LENGTH)} ${value.slice(-END_LENGTH)}`

const valueAfter = <T>(value: T, milliseconds: number): Promise<T> =>
  new Promise(resolve => {
    setTimeout(resolve, milliseconds, value).unref()
  })

import { isDeepStrictEqual } from 'node:util'
import { GatewayError } from '../../canonical/error.ts'
import { describeFault, pathText } from '../../config/faults.ts'
import type { Config } from '../../config/types.ts'
import type { Env } from '../../config/variable.ts'
import type { Log } from '../../log.ts'
import type { StoredEntry } from '../../store/config-records.ts'
import { type CredentialKeys, decryptedSecrets } from './credential-keys.ts'
import { type OpenedEntry as DecryptedEntry, mergedConfig, type StoredRow } from './merged-config.ts'

export { rowNamed, type StoredRow } from './merged-config.ts'

/** Delay before another attempt to read secrets that could not be read, in milliseconds. */
const RETRY_DELAY = 1000

const NOT_APPLIED = 'the stored channels and models cannot be used; the previous ones stay in use'

export interface StoredConfigOptions {
  readonly keys: CredentialKeys
  readonly log: Log
  /** The config file, to which stored entries are added. */
  readonly file: Config
  /** Applies a merged config. */
  readonly apply: (config: Config) => void
  readonly env?: Env
}

/**
 * Follows the channels and model settings in the store, and merges them with the config file
 * (docs/decisions/2026-11-28-stored-channels.md).
 */
export class StoredConfig {
  /** The stored entries and their effects. */
  rows: readonly StoredRow[] = []
  /** Settles once the latest known entries are in effect. Never rejects. */
  settled: Promise<void> = Promise.resolve()
  private readonly options: StoredConfigOptions
  private readonly env: Env
  private file: Config
  private entries: readonly StoredEntry[] = []
  private decryptedEntries: readonly DecryptedEntry[] = []
  /** Faults that have already been logged. */
  private loggedFaults: ReadonlySet<string> = new Set()
  private retryTimer: NodeJS.Timeout | undefined

  constructor(options: StoredConfigOptions) {
    this.options = options
    this.env = options.env ?? process.env
    this.file = options.file
  }

  /** Applies the store's current entries. */
  follow(entries: readonly StoredEntry[]): void {
    if (entries.length + this.entries.length === 0) return
    this.entries = entries
    this.openLater()
  }

  /** Returns the changed config file, merged with the stored entries. */
  reloaded(file: Config): Config {
    const isRotated = !isDeepStrictEqual(file.secrets, this.file.secrets)
    this.file = file
    // New secrets may decrypt different entries.
    if (isRotated && this.entries.length > 0) this.openLater()
    return this.merge()
  }

  close(): void {
    clearTimeout(this.retryTimer)
  }

  private openLater(): void {
    clearTimeout(this.retryTimer)
    this.settled = this.settled.then(() => this.open()).catch(err => this.options.log.error({ err }, NOT_APPLIED))
  }

  /** Decrypts the entries. If the store is unavailable, the previous entries stay in use until the next attempt. */
  private async open(): Promise<void> {
    const { entries } = this
    const isEncrypted = entries.some(({ secrets }) => secrets !== undefined)
    const keys = isEncrypted ? await this.options.keys.all().catch(this.retryLater) : new Map()
    if (keys === undefined) return
    this.decryptedEntries = entries.map(entry => ({ entry, ...decryptedSecrets(entry, keys) }))
    this.options.apply(this.merge())
  }

  private readonly retryLater = (thrown: unknown): undefined => {
    // The store reports its own faults.
    if (!(thrown instanceof GatewayError)) this.options.log.error({ err: thrown }, NOT_APPLIED)
    clearTimeout(this.retryTimer)
    this.retryTimer = setTimeout(() => this.openLater(), RETRY_DELAY).unref()
    return undefined
  }

  private merge(): Config {
    const { config, rows } = mergedConfig(this.file, this.decryptedEntries, this.env)
    this.rows = rows
    this.logFaults()
    return config
  }

  /** Logs each fault once, until it is corrected. */
  private logFaults(): void {
    const faults = this.rows.flatMap(({ entry: { kind, name }, faults }) =>
      faults.map(({ path, message }) => describeFault({ path: pathText(path), message }, `${kind} ${name}`)),
    )
    for (const fault of faults)
      if (!this.loggedFaults.has(fault)) this.options.log.warn({ fault }, 'a stored config entry has no effect')
    this.loggedFaults = new Set(faults)
  }
}

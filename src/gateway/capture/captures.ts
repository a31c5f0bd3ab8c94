import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Caller } from '../../accounts/index.ts'
import type { Config } from '../../config/index.ts'
import { patternOf } from '../../kit/secret-pattern.ts'
import { type Log, LogOnce } from '../../log.ts'
import type { Captures as CaptureRecords, StoredCapture } from '../../store/capture-repository.ts'
import { ignoringOutages } from '../../store/fault.ts'
import type { Call } from '../call.ts'
import { Capture } from './capture.ts'
import { captureDocument } from './capture-document.ts'
import type { RecordingBudget } from './recording.ts'
import { secretsOfConfig } from './secrets.ts'
import type { CaptureDocument } from './shapes.ts'

const compress = promisify(gzip)
const decompress = promisify(gunzip)

/** Maximum number of captures that run or wait to be written. Further requests are not captured. */
const MAX_OPEN_CAPTURES = 64
/** Maximum size of all recorded bodies in memory, in bytes. */
const MAX_RECORDED_SIZE = 64 * 1024 * 1024
/** Maximum time for which the shutdown waits for captures to be written, in milliseconds. */
const CLOSE_TIMEOUT = 5000

/** Options of `Captures`. */
export interface CapturesOptions {
  readonly records: CaptureRecords
  readonly log: Log
  /** Returns the current config. */
  config(): Config
  readonly budget?: RecordingBudget
}

/** Captures requests of keys with captures enabled, and stores them in the background once they are over. */
export class Captures {
  /** Number of requests not captured because too many ran at once or the store failed. */
  dropped = 0
  /** The stored captures. */
  readonly records: CaptureRecords
  private readonly options: CapturesOptions
  private readonly budget: RecordingBudget
  private readonly faults: LogOnce
  private readonly patterns = new WeakMap<Config, RegExp | undefined>()
  private openCount = 0
  private queue: { readonly capture: Capture; readonly error: string | undefined }[] = []
  private writing: Promise<void> | undefined

  constructor(options: CapturesOptions) {
    this.options = options
    this.records = options.records
    this.budget = options.budget ?? { bytesLeft: MAX_RECORDED_SIZE }
    this.faults = new LogOnce(ignoringOutages(err => options.log.error({ err }, 'requests cannot be captured')))
  }

  /** Starts capturing a request. Returns undefined if captures of its key have ended or too many are running. */
  begin(call: Call, caller: Caller): Capture | undefined {
    const { retention } = this.options.config().capture
    if (retention === 0 || (caller.captureUntil ?? 0) <= Date.now()) return undefined
    if (this.openCount >= MAX_OPEN_CAPTURES) {
      this.dropped++
      return undefined
    }
    this.openCount++
    return new Capture(call, caller, this.budget)
  }

  /**
   * Queues a finished request's capture for the store.
   *
   * @param error kind of the error that ended the request.
   */
  end(capture: Capture, error: string | undefined): void {
    this.queue.push({ capture, error })
    this.writing ??= this.write().finally(() => {
      this.writing = undefined
    })
  }

  async find(id: string): Promise<CaptureDocument | undefined> {
    const data = await this.records.find(id)
    return data === undefined ? undefined : (JSON.parse((await decompress(data)).toString('utf8')) as CaptureDocument)
  }

  /** Waits at most a few seconds for queued captures to be written. */
  async close(): Promise<void> {
    if (this.writing !== undefined)
      await Promise.race([this.writing, new Promise(done => setTimeout(done, CLOSE_TIMEOUT).unref())])
  }

  private async write(): Promise<void> {
    // Lets the answer finish its work in this turn of the event loop first.
    await new Promise(setImmediate)
    for (let next = this.queue.shift(); next !== undefined; next = this.queue.shift()) {
      try {
        const { limit } = this.options.config().capture
        await this.records.add([await this.storedCapture(next.capture, next.error)], limit)
      } catch (thrown) {
        this.dropped++
        this.faults.log(thrown)
      } finally {
        this.openCount--
        next.capture.release()
      }
    }
  }

  private async storedCapture(capture: Capture, error: string | undefined): Promise<StoredCapture> {
    const config = this.options.config()
    const { call, caller, at } = capture
    const document = await captureDocument(capture, this.patternOf(config), error)
    const data = await compress(JSON.stringify(document))
    return { id: call.id, at, key: caller.id, expiresAt: Date.now() + config.capture.retention, data }
  }

  /** Returns the pattern of the config's secrets, compiled once per config. */
  private patternOf(config: Config): RegExp | undefined {
    return this.patterns.getOrInsertComputed(config, () => patternOf(secretsOfConfig(config), true))
  }
}

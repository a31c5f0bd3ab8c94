/** Options: the probe of the shared counts, and the listeners. */
export interface ReachabilityOptions {
  /**
   * Brings the shared counts up to date and calls `recovered` at once. Rejects while they are unreachable or out of
   * date.
   */
  readonly probe: () => Promise<void>
  readonly onFault?: ((thrown: unknown) => void) | undefined
  readonly onRecovery?: (() => void) | undefined
}

/** Interval between two probes, in milliseconds. */
const PROBE_INTERVAL_MS = 500

/** Tracks whether the shared counts are reachable. After a failure, probes them until they are reachable again. */
export class Reachability {
  private readonly options: ReachabilityOptions
  private readonly probing: () => void
  private timer: NodeJS.Timeout | undefined
  private isClosed = false

  constructor(options: ReachabilityOptions) {
    this.options = options
    this.probing = () => void this.probe()
  }

  /** True if the shared counts are reachable, as far as is known. */
  get isUp(): boolean {
    return this.timer === undefined
  }

  /** Records a failure and starts probing. */
  failed(thrown: unknown): void {
    if (!this.isUp || this.isClosed) return
    this.options.onFault?.(thrown)
    this.wait()
  }

  /** Records that the shared counts are reachable and up to date: the next step is counted there. */
  recovered(): void {
    this.timer = undefined
    this.options.onRecovery?.()
  }

  close(): void {
    this.isClosed = true
    clearTimeout(this.timer)
  }

  private wait(): void {
    this.timer = setTimeout(this.probing, PROBE_INTERVAL_MS).unref()
  }

  private async probe(): Promise<void> {
    try {
      await this.options.probe()
    } catch {
      if (!this.isClosed) this.wait()
    }
  }
}

/** Failure of an engine that has no connection to the shared counts. */
export const NOT_CONNECTED = new Error('not connected to the shared counts')

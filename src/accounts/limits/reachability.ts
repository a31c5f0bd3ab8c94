export interface ReachabilityOptions {
  /** Rejects while the others cannot be reached, or have not been brought up to date. */
  readonly probe: () => Promise<void>
  readonly onFault?: ((thrown: unknown) => void) | undefined
  readonly onRecovery?: (() => void) | undefined
}

/** Milliseconds between two tries to reach the others again. */
const PROBE = 500

/** Whether others can be reached; once they cannot, that is tried until they can. */
export class Reachability {
  private readonly options: ReachabilityOptions
  private readonly probing: () => void
  private timer: NodeJS.Timeout | undefined
  private closed = false

  constructor(options: ReachabilityOptions) {
    this.options = options
    this.probing = () => void this.probe()
  }

  /** As far as is known. */
  get isUp(): boolean {
    return this.timer === undefined
  }

  failed(thrown: unknown): void {
    if (!this.isUp || this.closed) return
    this.options.onFault?.(thrown)
    this.wait()
  }

  close(): void {
    this.closed = true
    clearTimeout(this.timer)
  }

  private wait(): void {
    this.timer = setTimeout(this.probing, PROBE).unref()
  }

  private async probe(): Promise<void> {
    try {
      await this.options.probe()
    } catch {
      if (!this.closed) this.wait()
      return
    }
    this.timer = undefined
    this.options.onRecovery?.()
  }
}

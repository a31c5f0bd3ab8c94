import type { Terminal } from './outcome.ts'

/** Milliseconds of a start without a word about it. */
const SILENT = 1000

/** Writes to standard error what a start does, where it takes longer than a second. */
export class Progress {
  private readonly terminal: Terminal
  private readonly timer: NodeJS.Timeout
  private step = ''
  private isLate = false

  /** @param elapsed milliseconds since the process was started. */
  constructor(terminal: Terminal, elapsed = performance.now()) {
    this.terminal = terminal
    this.timer = setTimeout(
      () => {
        this.isLate = true
        this.write()
      },
      Math.max(0, SILENT - elapsed),
    ).unref()
  }

  /** What happens from now on, as `opening the store`. */
  begin(step: string): void {
    this.step = step
    if (this.isLate) this.write()
  }

  end(): void {
    clearTimeout(this.timer)
    this.isLate = false
  }

  private write(): void {
    this.terminal.fault(`starting: ${this.step} …`)
  }
}

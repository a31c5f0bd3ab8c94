import type { Terminal } from './outcome.ts'

/** Milliseconds; a start shorter than this prints no progress. */
const SILENT_START = 1000

/** Prints the steps of a slow start to standard error. */
export class Progress {
  private readonly terminal: Terminal
  private readonly timer: NodeJS.Timeout
  private step = ''
  private isLate = false

  /** @param elapsed milliseconds since the process started. */
  constructor(terminal: Terminal, elapsed = performance.now()) {
    this.terminal = terminal
    this.timer = setTimeout(
      () => {
        this.isLate = true
        this.write()
      },
      Math.max(0, SILENT_START - elapsed),
    ).unref()
  }

  /** Sets the current step, for example `opening the store`. */
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

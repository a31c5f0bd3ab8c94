import type { CellResult } from '../kit/conformance/run-cells.ts'

/** A stream that may be a terminal. */
export interface Screen {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** Returns to the beginning of the line and clears it. */
const CLEAR_LINE = '\r\u001b[2K'

/** Shows the progress of a run in a single line that is rewritten. Writes nothing if the screen is not a terminal. */
export class Progress {
  private failed = 0
  private readonly screen: Screen

  constructor(screen: Screen) {
    this.screen = screen
  }

  show({ cell, checks }: CellResult, index: number, count: number): void {
    if (checks.some(({ status }) => status === 'fail' || status === 'harness-error')) this.failed++
    const failed = this.failed === 0 ? '' : `, ${this.failed} with failures`
    this.write(`${index + 1} of ${count} cells${failed}: ${cell.id}`.slice(0, (this.screen.columns ?? 80) - 1))
  }

  clear(): void {
    this.write('')
  }

  private write(line: string): void {
    if (this.screen.isTTY) this.screen.write(`${CLEAR_LINE}${line}`)
  }
}

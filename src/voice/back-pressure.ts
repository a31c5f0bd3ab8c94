import { HIGH_WATER_MARK, LOW_WATER_MARK } from './limits.ts'

/**
 * Back-pressure in one direction. The source pauses when its sink's buffer exceeds the high-water mark, and resumes at
 * the low-water mark.
 */
export class BackPressure {
  private readonly source: { pause(): void; resume(): void }
  private readonly sink: { readonly buffered: number }
  private isPaused = false

  constructor(source: BackPressure['source'], sink: BackPressure['sink']) {
    this.source = source
    this.sink = sink
  }

  /** Called after output was written to the sink. */
  written(): void {
    if (this.isPaused || this.sink.buffered <= HIGH_WATER_MARK) return
    this.isPaused = true
    this.source.pause()
  }

  /** Called after the sink has accepted some output. */
  onDrain(): void {
    if (!this.isPaused || this.sink.buffered > LOW_WATER_MARK) return
    this.isPaused = false
    this.source.resume()
  }
}

import { HIGH_WATER_MARK, LOW_WATER_MARK } from './limits.ts'

/** Back-pressure of one direction: the source pauses above the high-water mark of its sink, until the low-water mark. */
export class BackPressure {
  private readonly source: { pause(): void; resume(): void }
  private readonly sink: { readonly buffered: number }
  private isPaused = false

  constructor(source: BackPressure['source'], sink: BackPressure['sink']) {
    this.source = source
    this.sink = sink
  }

  /** Notes output for the sink. */
  written(): void {
    if (this.isPaused || this.sink.buffered <= HIGH_WATER_MARK) return
    this.isPaused = true
    this.source.pause()
  }

  /** Notes that the sink took some output. */
  taken(): void {
    if (!this.isPaused || this.sink.buffered > LOW_WATER_MARK) return
    this.isPaused = false
    this.source.resume()
  }
}

/** Maximum number of models per channel. Needed because callers may invent names if a channel accepts any model. */
const MAX_MODELS = 256
/** Weight of the newest measurement in the moving average. */
const NEWEST_WEIGHT = 0.2

/** Moving averages of the time to the first byte of streamed answers, by the upstream's model names. */
export class Latencies {
  private readonly averages = new Map<string, number>()

  /** @param milliseconds the time from sending a request to the head of its streamed answer. */
  measured(model: string, milliseconds: number): void {
    const before = this.averages.get(model)
    if (before === undefined && this.averages.size >= MAX_MODELS) this.averages.clear()
    this.averages.set(model, before === undefined ? milliseconds : before + NEWEST_WEIGHT * (milliseconds - before))
  }

  /** Returns the average latency, in milliseconds, or undefined if no answer was measured. */
  of(model: string): number | undefined {
    return this.averages.get(model)
  }

  get all(): readonly (readonly [model: string, milliseconds: number])[] {
    return [...this.averages]
  }
}

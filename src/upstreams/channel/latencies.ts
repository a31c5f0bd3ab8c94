/** Maximum number of models per channel. Callers may invent names if a channel takes any model. */
const MOST = 256
/** Weight of the newest measurement in the moving average. */
const NEWEST = 0.2

/** Moving averages of the time to the first byte of streamed answers, by the upstream's names of models. */
export class Latencies {
  private readonly averages = new Map<string, number>()

  /** @param milliseconds the time from sending a request to the head of its streamed answer. */
  measured(model: string, milliseconds: number): void {
    const before = this.averages.get(model)
    if (before === undefined && this.averages.size >= MOST) this.averages.clear()
    this.averages.set(model, before === undefined ? milliseconds : before + NEWEST * (milliseconds - before))
  }

  /** Latency in milliseconds. Undefined if no answer was measured. */
  of(model: string): number | undefined {
    return this.averages.get(model)
  }

  get all(): readonly (readonly [model: string, milliseconds: number])[] {
    return [...this.averages]
  }
}

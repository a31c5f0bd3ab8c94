/** The most models of one channel that rest at a time: callers may invent names where a channel takes any. */
const MOST_MODELS = 256

/**
 * What of a channel rests after failures: all of it, or single models by the upstream's own names. Resting only changes
 * the order in which channels are tried (trap 100). Times are Unix milliseconds.
 */
export class Resting {
  private channel = 0
  private readonly byModel = new Map<string, number>()

  /** Until when all of the channel rests; absent where it never has, or has answered since. */
  get until(): number | undefined {
    return this.channel === 0 ? undefined : this.channel
  }

  get models(): ReadonlyMap<string, number> {
    return this.byModel
  }

  restChannel(until: number): void {
    this.channel = Math.max(this.channel, until)
  }

  restModel(model: string, until: number, now: number): void {
    const previous = this.byModel.get(model) ?? 0
    this.byModel.delete(model)
    if (this.byModel.size >= MOST_MODELS) this.forget(now)
    this.byModel.set(model, Math.max(previous, until))
  }

  /** The model answered: neither it nor the channel needs rest. */
  wake(model: string): void {
    this.channel = 0
    if (this.byModel.size > 0) this.byModel.delete(model)
  }

  /** The number of channels and models that rest at that time. */
  count(now: number): { readonly channels: number; readonly models: number } {
    let models = 0
    for (const until of this.byModel.values()) if (until > now) models++
    return { channels: this.channel > now ? 1 : 0, models }
  }

  /** Makes room: drops those that rest no longer, or else the one that has rested longest. */
  private forget(now: number): void {
    for (const [model, until] of this.byModel) if (until <= now) this.byModel.delete(model)
    if (this.byModel.size < MOST_MODELS) return
    for (const oldest of this.byModel.keys()) {
      this.byModel.delete(oldest)
      return
    }
  }
}

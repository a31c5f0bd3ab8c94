/** The most models of one channel that rest at a time: callers may invent names where a channel takes any. */
const MOST_MODELS = 256
/** Milliseconds by which a rest must grow to be told of. */
const NOTABLE = 1000

/**
 * What of a channel rests after failures: all of it, or single models by the upstream's own names. Resting only changes
 * the order in which channels are tried (trap 100). Times are Unix milliseconds.
 */
export class Resting {
  private channel = 0
  private readonly byModel = new Map<string, number>()
  /** Is told what rests now, a model or else all of the channel, and until when; until 0 what rests no longer. */
  onChange: (model: string | undefined, until: number) => void = () => {}

  /** Until when all of the channel rests; absent where it never has, or has answered since. */
  get until(): number | undefined {
    return this.channel === 0 ? undefined : this.channel
  }

  get models(): ReadonlyMap<string, number> {
    return this.byModel
  }

  restChannel(until: number): void {
    const previous = this.channel
    this.channel = Math.max(previous, until)
    if (until - previous > NOTABLE) this.onChange(undefined, until)
  }

  restModel(model: string, until: number, now: number): void {
    const previous = this.byModel.get(model) ?? 0
    this.byModel.delete(model)
    if (this.byModel.size >= MOST_MODELS) this.forget(now)
    this.byModel.set(model, Math.max(previous, until))
    if (until - previous > NOTABLE) this.onChange(model, until)
  }

  /** The model answered: neither it nor the channel needs rest. */
  wake(model: string): void {
    if (this.channel !== 0) {
      this.channel = 0
      this.onChange(undefined, 0)
    }
    if (this.byModel.size > 0 && this.byModel.delete(model)) this.onChange(model, 0)
  }

  /** A change that `onChange` of another process was told of; here nobody is. */
  apply(model: string | undefined, until: number, now: number): void {
    const { onChange } = this
    this.onChange = () => {}
    if (until === 0 && model !== undefined) this.byModel.delete(model)
    else if (until === 0) this.channel = 0
    else if (model === undefined) this.restChannel(until)
    else this.restModel(model, until, now)
    this.onChange = onChange
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

import type { UsageRow } from './usage/row.ts'

/** Length of a day, in milliseconds. */
const DAY = 86_400_000

/** Maximum number of models per UTC day that sums name before a request for them succeeds. */
const MAX_FAILED_MODELS = 1000

/** Maximum number of models in memory that had a successful request. At the limit, all of them are dropped. */
const MAX_ANSWERED_MODELS = 20_000

/**
 * Chooses the models that sums name. Callers can invent model names for a channel with `*`, and daily sums are never
 * deleted: names that no upstream has answered are limited.
 */
export class SeriesModels {
  private readonly answered = new Set<string>()
  private readonly failed = new Set<string>()
  private day = 0

  /** Returns the model that sums name for a row, or undefined: no channel was tried, or there are too many names. */
  of({ model, channel, status, at }: UsageRow): string | undefined {
    if (channel === undefined || model === undefined) return undefined
    if (this.answered.has(model)) return model
    if (status >= 400) return this.hasRoom(model, at) ? model : undefined
    if (this.answered.size >= MAX_ANSWERED_MODELS) this.answered.clear()
    this.answered.add(model)
    return model
  }

  private hasRoom(model: string, at: number): boolean {
    const day = Math.floor(at / DAY)
    if (day > this.day) {
      this.day = day
      this.failed.clear()
    }
    if (this.failed.has(model)) return true
    if (this.failed.size >= MAX_FAILED_MODELS) return false
    this.failed.add(model)
    return true
  }
}

import type { ToolResultPart } from '../../../canonical/content.ts'
import { resultOf } from './client-writer.ts'
import type { FunctionCall, FunctionResponse } from './wire.ts'

/** Maximum number of unanswered calls, and also of cancelled calls that are remembered. */
const MAX_CALLS = 1000

/** The upstream's function calls: open calls, cancelled calls, and unsent results. */
export class ToolCalls {
  private readonly newId: (prefix: string) => string
  /** Open calls, by the caller's id. */
  private readonly open = new Map<string, { readonly id?: string; readonly name: string }>()
  /** Cancelled calls. The value is true if a late answer must be reported to the caller. */
  private readonly cancelled = new Map<string, boolean>()
  private results = new Map<string, { readonly response: FunctionResponse; readonly size: number }>()
  /** Length of the unsent results, in characters. Results stay queued even if their items are deleted. */
  size = 0
  /** True if the caller answered a cancelled call. */
  private answeredCancelled = false

  constructor(newId: (prefix: string) => string) {
    this.newId = newId
  }

  /** True if the upstream is waiting for a result. */
  get areOpen(): boolean {
    return this.open.size > 0 || this.results.size > 0
  }

  /** True if results have not been sent yet. */
  get hasResults(): boolean {
    return this.results.size > 0
  }

  /** Adds a call and returns the caller's id for it. Returns undefined if too many calls are open. */
  add({ id, name }: FunctionCall): string | undefined {
    if (this.open.size >= MAX_CALLS) return undefined
    const callerId = id ?? this.newId('call')
    this.open.set(callerId, { ...(id === undefined ? {} : { id }), name })
    return callerId
  }

  has(id: string): boolean {
    return this.open.has(id) || this.cancelled.has(id)
  }

  /** Stores a result until `take`. The result of a cancelled call is dropped. */
  answer(part: ToolResultPart): void {
    const call = this.open.get(part.id)
    if (call === undefined) this.answeredCancelled ||= this.cancelled.get(part.id) === true
    else this.queue(part.id, resultOf(part, call))
    this.cancelled.delete(part.id)
    this.open.delete(part.id)
  }

  /** Cancels calls whose results the upstream no longer wants. */
  cancel(ids: readonly string[]): void {
    for (const id of ids) {
      if (this.dropResult(id)) this.answeredCancelled = true
      else if (this.open.delete(id)) this.forget(id, true)
    }
  }

  /** Cancels every call, because the new connection does not know them. */
  abandon(): void {
    for (const id of this.open.keys()) this.forget(id, false)
    this.open.clear()
    this.take()
  }

  /** Removes and returns the unsent results. */
  take(): readonly FunctionResponse[] {
    const results = [...this.results.values()].map(({ response }) => response)
    this.results = new Map()
    this.size = 0
    return results
  }

  /** Returns true if cancelled calls were answered since the last check. */
  takeAnsweredCancelled(): boolean {
    const { answeredCancelled } = this
    this.answeredCancelled = false
    return answeredCancelled
  }

  private queue(id: string, response: FunctionResponse): void {
    const { length: size } = JSON.stringify(response)
    this.results.set(id, { response, size })
    this.size += size
  }

  /** Drops a result that has not been sent yet. Returns false if there is none. */
  private dropResult(id: string): boolean {
    this.size -= this.results.get(id)?.size ?? 0
    return this.results.delete(id)
  }

  private forget(id: string, isShown: boolean): void {
    this.cancelled.set(id, isShown)
    if (this.cancelled.size > MAX_CALLS) this.cancelled.delete(this.cancelled.keys().next().value!)
  }
}

import type { ToolResultPart } from '../../../canonical/content.ts'
import { resultOf } from './client-writer.ts'
import type { FunctionCall, FunctionResponse } from './wire.ts'

/** Calls that may be unanswered or cancelled at a time. */
const MOST = 1000

/** The upstream's function calls: which are to be answered, which need not be any more, and answers not sent yet. */
export class ToolCalls {
  private readonly newId: (prefix: string) => string
  /** By the id the caller sees. */
  private readonly open = new Map<string, { readonly id?: string; readonly name: string }>()
  /** With whether the caller is shown that its answer came too late. */
  private readonly cancelled = new Map<string, boolean>()
  private results = new Map<string, FunctionResponse>()
  /** The caller answered a call that was cancelled. */
  private inVain = false

  constructor(newId: (prefix: string) => string) {
    this.newId = newId
  }

  /** Whether the upstream waits for an answer. */
  get areOpen(): boolean {
    return this.open.size > 0 || this.results.size > 0
  }

  /** The id the caller sees; undefined where there are too many calls. */
  add({ id, name }: FunctionCall): string | undefined {
    if (this.open.size >= MOST) return undefined
    const own = id ?? this.newId('call')
    this.open.set(own, { ...(id === undefined ? {} : { id }), name })
    return own
  }

  has(id: string): boolean {
    return this.open.has(id) || this.cancelled.has(id)
  }

  /** Keeps the answer until `take`; the answer of a cancelled call is dropped. */
  answer(part: ToolResultPart): void {
    const call = this.open.get(part.id)
    if (call === undefined) this.inVain ||= this.cancelled.get(part.id) === true
    else this.results.set(part.id, resultOf(part, call))
    this.cancelled.delete(part.id)
    this.open.delete(part.id)
  }

  /** The upstream does not want the answers any more. */
  cancel(ids: readonly string[]): void {
    for (const id of ids) {
      if (this.results.delete(id)) this.inVain = true
      else if (this.open.delete(id)) this.forget(id, true)
    }
  }

  /** The upstream does not have the calls any more. */
  abandon(): void {
    for (const id of this.open.keys()) this.forget(id, false)
    this.open.clear()
    this.results.clear()
  }

  /** Answers that were not sent. */
  take(): readonly FunctionResponse[] {
    const results = [...this.results.values()]
    this.results = new Map()
    return results
  }

  /** Whether cancelled calls were answered since the last check. */
  takeInVain(): boolean {
    const { inVain } = this
    this.inVain = false
    return inVain
  }

  private forget(id: string, isShown: boolean): void {
    this.cancelled.set(id, isShown)
    if (this.cancelled.size > MOST) this.cancelled.delete(this.cancelled.keys().next().value!)
  }
}

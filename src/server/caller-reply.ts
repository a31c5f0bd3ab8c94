import type { Abortable } from '../gateway/index.ts'

/** What the replies of all connections have in common: whether their caller is still there, and what works for it. */
export abstract class CallerReply {
  gone = false
  begun = false
  private working: Abortable | undefined

  get abortable(): Abortable | undefined {
    return this.working
  }

  /** Work that begins after the caller left ends at once. */
  set abortable(abortable: Abortable | undefined) {
    this.working = abortable
    if (this.gone) abortable?.abort()
  }

  /** The caller left. */
  leave(): void {
    this.gone = true
    this.working?.abort()
  }
}

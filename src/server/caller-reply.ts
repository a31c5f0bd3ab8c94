import type { Abortable } from '../gateway/index.ts'

/**
 * Base class of replies over any connection. Tracks whether the caller is still connected, and aborts its work if not.
 */
export abstract class CallerReply {
  gone = false
  begun = false
  private working: Abortable | undefined

  get abortable(): Abortable | undefined {
    return this.working
  }

  /** Sets the work to abort when the caller disconnects; aborts at once if the caller is already gone. */
  set abortable(abortable: Abortable | undefined) {
    this.working = abortable
    if (this.gone) abortable?.abort()
  }

  /** Marks the caller as disconnected and aborts its work. */
  leave(): void {
    this.gone = true
    this.working?.abort()
  }
}

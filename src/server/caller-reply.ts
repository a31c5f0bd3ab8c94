import type { Abortable } from '../gateway/index.ts'

/**
 * Base class of replies over any connection. Tracks whether the caller is still connected, and aborts the work when the
 * caller disconnects.
 */
export abstract class CallerReply {
  gone = false
  started = false
  private current: Abortable | undefined

  get abortable(): Abortable | undefined {
    return this.current
  }

  /**
   * Sets the work to abort when the caller disconnects. If the caller is already gone, the work is aborted immediately.
   */
  set abortable(abortable: Abortable | undefined) {
    this.current = abortable
    if (this.gone) abortable?.abort()
  }

  /** Marks the caller as disconnected and aborts its work. */
  abandon(): void {
    this.gone = true
    this.current?.abort()
  }
}

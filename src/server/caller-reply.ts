import type { Worker } from '../gateway/index.ts'

/** What the replies of all connections have in common: whether their caller is still there, and what works for it. */
export abstract class CallerReply {
  gone = false
  begun = false
  private working: Worker | undefined

  get worker(): Worker | undefined {
    return this.working
  }

  /** Work that begins after the caller left ends at once. */
  set worker(worker: Worker | undefined) {
    this.working = worker
    if (this.gone) worker?.abort()
  }

  /** The caller left. */
  leave(): void {
    this.gone = true
    this.working?.abort()
  }
}

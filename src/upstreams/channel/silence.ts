/** Time after which a request without an answer is overdue, in milliseconds. */
export const OVERDUE_TIME = 60_000
/** Number of overdue requests that show a silence. One alone may be for a model that thinks for minutes. */
const MIN_OVERDUE = 2

/**
 * Notices that an upstream answers none of its requests for streams, long before they are given up. They go on, because
 * the upstream may still answer, but new requests are sent elsewhere.
 */
export class Silence {
  private overdue = 0
  private answeredAt = Number.NEGATIVE_INFINITY

  /** Counts a request as overdue until `end` is called. */
  begin(): void {
    this.overdue++
  }

  end(): void {
    this.overdue--
  }

  /** Records that the upstream began an answer. */
  answered(): void {
    this.answeredAt = performance.now()
  }

  /** True while several requests are overdue and none was answered meanwhile. */
  get isOngoing(): boolean {
    return this.overdue >= MIN_OVERDUE && performance.now() - this.answeredAt > OVERDUE_TIME
  }
}

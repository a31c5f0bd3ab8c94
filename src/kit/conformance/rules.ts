/* Rules for targets, each with its public source. */

/** Breaking a `must` rule is a failure. Breaking a `should` rule yields advice. */
export type Level = 'must' | 'should'

/** The subject of a rule: a request, the body of a whole answer or of an error, or the events of a stream. */
export type Subject = 'request' | 'answer' | 'stream' | 'error'

export interface Rule {
  /** Stable id, unique among the rules of its subject. Check ids contain it. */
  readonly id: string
  readonly on: Subject
  readonly level: Level
  readonly says: string
  readonly source: string
}

/** A broken rule, with details. */
export interface Violation {
  readonly rule: string
  readonly detail: string
}

/** Collects violations. Stores only the first few details of each rule. */
export class Violations {
  readonly list: Violation[] = []
  private readonly counts = new Map<string, number>()

  add(rule: string, detail: string): void {
    const count = (this.counts.get(rule) ?? 0) + 1
    this.counts.set(rule, count)
    if (count <= MAX_DETAILS) this.list.push({ rule, detail: detail.slice(0, MAX_DETAIL_LENGTH) })
  }
}

/** Maximum number of details per rule and exchange. */
const MAX_DETAILS = 5
/** Maximum length of a detail, in characters. */
const MAX_DETAIL_LENGTH = 500

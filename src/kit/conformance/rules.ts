/* Rules by which a judge checks a target, each with the public page that states it. */

/** A broken `must` rule is a failure, a broken `should` rule is advice. */
export type Level = 'must' | 'should'

/** Subject of a rule. `stream` rules get events, `answer` rules a whole body, `error` rules the answer of an error. */
export type Subject = 'request' | 'answer' | 'stream' | 'error'

export interface Rule {
  /** Stable id, unique among the rules of its subject. Part of the ids of checks. */
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

/** Collects violations. Of each rule only the first few details are stored. */
export class Violations {
  readonly list: Violation[] = []
  private readonly counts = new Map<string, number>()

  add(rule: string, detail: string): void {
    const count = (this.counts.get(rule) ?? 0) + 1
    this.counts.set(rule, count)
    if (count <= MOST_DETAILS) this.list.push({ rule, detail: detail.slice(0, LONGEST_DETAIL) })
  }
}

/** Maximum number of details per rule in one exchange, and maximum length of a detail in characters. */
const MOST_DETAILS = 5
const LONGEST_DETAIL = 500

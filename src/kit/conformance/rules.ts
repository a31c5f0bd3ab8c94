/* Rules: what a judge may hold against a target, each with the public page that says so. */

/** `must` fails a check, `should` is advice. */
export type Level = 'must' | 'should'

/** The subject of a rule. `stream` rules see events, `answer` rules a whole body, `error` rules an error's answer. */
export type Subject = 'request' | 'answer' | 'stream' | 'error'

export interface Rule {
  /** Stable, unique among the rules of its subject: part of the ids of checks. */
  readonly id: string
  readonly on: Subject
  readonly level: Level
  readonly says: string
  readonly source: string
}

/** A rule that was broken, and how. */
export interface Violation {
  readonly rule: string
  readonly detail: string
}

/** Collects violations; a rule is remembered with its first few details only. */
export class Violations {
  readonly list: Violation[] = []
  private readonly counts = new Map<string, number>()

  add(rule: string, detail: string): void {
    const count = (this.counts.get(rule) ?? 0) + 1
    this.counts.set(rule, count)
    if (count <= MOST_DETAILS) this.list.push({ rule, detail: detail.slice(0, LONGEST_DETAIL) })
  }
}

/** Details a rule is reported with in one exchange, and characters of one detail. */
const MOST_DETAILS = 5
const LONGEST_DETAIL = 500

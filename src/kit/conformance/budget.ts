import { leavesOf, type UsageFacts } from './facts.ts'
import { FORMATS } from './formats/index.ts'
import { compact, numberOf, objectOf, parseJson } from './json.ts'
import type { CellResult, NamedCell } from './run-cells.ts'
import { readSse } from './sse.ts'

/* Cost of a live run, computed from the usage that answers report. */

/** Prices in US dollars per million tokens. */
export interface Price {
  readonly input: number
  readonly output: number
}

const MILLION = 1_000_000

/** Characters per token, for answers without usage. */
const CHARACTERS_PER_TOKEN = 4

/** Returns the token counts that an answer reports. Counts below zero are none. */
function reportedUsage({ name }: NamedCell['caller'], isStream: boolean, body: Buffer | undefined): UsageFacts {
  const format = FORMATS[name]
  if (format === undefined || body === undefined) return {}
  const events = isStream ? readSse(body).events.flatMap(({ data }) => parseJson(data) ?? []) : []
  const fullAnswer = isStream ? (format.assemble?.(events) ?? {}) : objectOf(parseJson(body.toString('utf8')))
  const leaves = leavesOf(format.answer(fullAnswer))
  const count = (path: string): number | undefined => {
    const tokens = numberOf(leaves.get(path))
    return tokens === undefined || tokens < 0 ? undefined : tokens
  }
  return compact({ input: count('usage.input'), output: count('usage.output') })
}

/**
 * Returns the cost of a cell with all its steps in US dollars. An answer without usage is estimated from its bytes. A
 * refused request costs nothing.
 */
export function costOf({ cell, record }: CellResult, { input, output }: Price): number {
  const exchanges = record === undefined ? [] : [record, ...(record.later ?? [])].map(({ exchange }) => exchange)
  const costs = exchanges.map(({ sent, got }) => {
    if (got !== undefined && got.status >= 400) return 0
    const usage = reportedUsage(cell.caller, cell.mode === 'stream', got?.body)
    const inputTokens = usage.input ?? sent.body.length / CHARACTERS_PER_TOKEN
    const outputTokens = usage.output ?? (got?.body.length ?? 0) / CHARACTERS_PER_TOKEN
    return (inputTokens * input + outputTokens * output) / MILLION
  })
  return costs.reduce((sum, cost) => sum + cost, 0)
}

/** Adds up the cost of a run. */
export class Budget {
  spent = 0
  private readonly limit: number
  private readonly price: Price

  /** @param limit maximum cost, in US dollars. */
  constructor(limit: number, price: Price) {
    this.limit = limit
    this.price = price
  }

  add(result: CellResult): void {
    this.spent += costOf(result, this.price)
  }

  get isSpent(): boolean {
    return this.spent >= this.limit
  }
}

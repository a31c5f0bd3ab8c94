import { leavesOf, type UsageFacts } from './facts.ts'
import { FORMATS } from './formats/index.ts'
import { compact, numberOf, objectOf, parseJson } from './json.ts'
import type { CellResult } from './run-cells.ts'
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

/** Returns the token counts that an answer reports. */
function reportedUsage({ cell, record }: CellResult): UsageFacts {
  const format = FORMATS[cell.caller.name]
  const body = record?.exchange.got?.body
  if (format === undefined || body === undefined) return {}
  const isStream = cell.mode === 'stream'
  const events = isStream ? readSse(body).events.flatMap(({ data }) => parseJson(data) ?? []) : []
  const fullAnswer = isStream ? (format.assemble?.(events) ?? {}) : objectOf(parseJson(body.toString('utf8')))
  const leaves = leavesOf(format.answer(fullAnswer))
  return compact({ input: numberOf(leaves.get('usage.input')), output: numberOf(leaves.get('usage.output')) })
}

/**
 * Returns the cost of a cell in US dollars. An answer without usage is estimated from its bytes. A refused request
 * costs nothing.
 */
export function costOf(result: CellResult, { input, output }: Price): number {
  const { sent, got } = result.record?.exchange ?? {}
  if (sent === undefined || (got !== undefined && got.status >= 400)) return 0
  const usage = reportedUsage(result)
  const inputTokens = usage.input ?? sent.body.length / CHARACTERS_PER_TOKEN
  const outputTokens = usage.output ?? (got?.body.length ?? 0) / CHARACTERS_PER_TOKEN
  return (inputTokens * input + outputTokens * output) / MILLION
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

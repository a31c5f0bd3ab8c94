import type { Reservation } from '../accounts/index.ts'
import type { Usage } from '../canonical/result.ts'
import type { Work } from '../canonical/work.ts'
import { type BilledFacts, expectedFacts } from '../upstreams/catalogue/billed-facts.ts'
import type { Prices } from '../upstreams/catalogue/rates.ts'
import type { Target } from '../upstreams/router.ts'
import { costOfAnswers, type PaidAnswer, withSearches } from './answer-cost.ts'
import { type AnswerMeter, NO_TOKENS } from './answer-meter.ts'
import { type ExpectedUsage, TEXT_WORK } from './uncounted.ts'
import type { UnsentAnswers } from './unsent-answers.ts'

/** Facts about a finished request that its bill depends on. */
export interface Billed {
  readonly work: Work
  /** Target of the last attempt, or undefined if the request was not sent. */
  readonly target: Target | undefined
  readonly model: string | undefined
  /** False if no upstream worked on an answer, or the answer is only an error. */
  readonly hasAnswer: boolean
  /** True if the answer was sent piece by piece. */
  readonly stream: boolean
  /** Facts that the request states, on which its cost depends. */
  readonly requested: BilledFacts
  readonly expected: ExpectedUsage | undefined
  readonly reservation: Reservation | undefined
  readonly meter: AnswerMeter
  readonly unsent: UnsentAnswers
  /** Answers that the sent answer consists of, if it was put together from several. */
  readonly parts: readonly PaidAnswer[] | undefined
}

/** Usage and cost of a finished request. */
export interface Bill {
  /** Usage in the row of the request. */
  readonly usage: Usage | undefined
  /** Cost in the row, in nanodollars, or undefined if it is unknown. */
  readonly cost: number | undefined
  readonly isEstimated: boolean
  /** Usage charged to the limits: an estimate if the row says so, and undefined if it cannot even be estimated. */
  readonly spent: Usage | undefined
  /** The answers that `spent` consists of. */
  readonly answers: readonly PaidAnswer[]
}

/** Makes the bill of a request from its upstreams' counts, else from an estimate, else from its reservation. */
export function billOf(billed: Billed, prices: Prices): Bill {
  const counted = countedUsage(billed) ?? (isBilledByUnits(billed, prices) ? NO_TOKENS : undefined)
  if (counted !== undefined) return countedBill(billed, counted, prices)
  const estimate = estimateOf(billed)
  return estimate === undefined ? unknownBill(billed, prices) : estimatedBill(billed, estimate, prices)
}

function countedBill(billed: Billed, counted: Usage, prices: Prices): Bill {
  const { target, model, meter, unsent } = billed
  if (target !== undefined && model !== undefined)
    unsent.addIterations(counted, () => ({ target, model, facts: { tier: meter.facts.tier } }))
  const total = totalOf(billed, counted)
  const usage = total ?? meter.usage
  const answers = paidAnswers(billed, counted)
  return { usage, spent: total ?? withTokens(billed, counted), answers, ...priceOf(billed, counted, answers, prices) }
}

function estimatedBill(billed: Billed, estimate: Usage, prices: Prices): Bill {
  // An estimate covers the whole request, and with it the answers to parts of it.
  if (billed.target !== undefined) billed.unsent.forget(billed.target)
  const total = totalOf(billed, estimate)
  const answers = paidAnswers(billed, estimate)
  const { cost } = priceOf(billed, estimate, answers, prices)
  return { usage: total ?? estimate, spent: total ?? withTokens(billed, estimate), answers, cost, isEstimated: true }
}

/** Makes the bill of an answer that cannot be estimated. Its row states the reserved usage, which the limits charge. */
function unknownBill(billed: Billed, prices: Prices): Bill {
  const { reservation, meter } = billed
  const answers = paidAnswers(billed, undefined)
  const uncounted = reservation?.uncounted
  if (uncounted !== undefined)
    return { usage: uncounted, cost: uncounted.cost, isEstimated: true, spent: undefined, answers }
  const { cost, isPartial } = costOfAnswers(prices, answers)
  return { usage: totalOf(billed, NO_USAGE) ?? meter.usage, cost, isEstimated: isPartial, spent: undefined, answers }
}

/** Returns the known usage: none for an unanswered request, or undefined if the upstream's count is incomplete. */
function countedUsage({ work, meter, hasAnswer }: Billed): Usage | undefined {
  // A token count is free.
  if (work === 'count') return NO_USAGE
  const { counted } = meter
  if (counted !== undefined) return withSearches(counted, meter.searches.searches)
  return hasAnswer ? undefined : NO_USAGE
}

/** Returns true if an uncounted answer has the price of other units than tokens, such as images. */
const isBilledByUnits = (billed: Billed, prices: Prices): boolean =>
  costOfAnswers(prices, paidAnswers(billed, NO_TOKENS)).cost !== undefined

/** Estimates the usage of an answer. Returns undefined if that is impossible. */
function estimateOf({ expected, meter, stream, reservation }: Billed): Usage | undefined {
  if (expected === undefined) return undefined
  const { input, output } = expected()
  const unreceived = stream || meter.isComplete ? 0 : (reservation?.expectedAnswer(output) ?? 0)
  return meter.estimate(input, unreceived)
}

/** Returns the usage of all answers, or undefined if only the sent one has any. */
const totalOf = ({ unsent }: Billed, sent: Usage): Usage | undefined =>
  unsent.all.length > 0 ? unsent.with(sent) : undefined

/** Returns the answers that the request pays for: the sent one, unless it cost nothing, and unsent ones. */
function paidAnswers({ target, model, unsent, parts, meter }: Billed, sent: Usage | undefined): readonly PaidAnswer[] {
  if (sent === NO_USAGE || target === undefined) return unsent.all
  if (parts !== undefined) return [...unsent.all, ...parts]
  return [...unsent.all, { target, model, usage: sent, facts: meter.facts }]
}

/** Adds the expected tokens to the usage of an answer that the upstream counts in another unit. */
function withTokens({ expected }: Billed, usage: Usage): Usage {
  const hasTokens = usage.input !== undefined || usage.output !== undefined
  if (hasTokens || usage === NO_USAGE || expected === undefined) return usage
  return { ...usage, input: Math.ceil(expected().input) }
}

/**
 * Returns the price of the answers. An answer counted in a unit without a price, such as seconds where tokens have one,
 * costs what was expected of it.
 */
function priceOf(billed: Billed, sent: Usage, answers: readonly PaidAnswer[], prices: Prices) {
  const { cost, isPartial } = costOfAnswers(prices, answers)
  const isUnpriced = cost === undefined && sent !== NO_USAGE && !TEXT_WORK.has(billed.work)
  const expectedCost = isUnpriced ? expectedCostOf(billed, prices) : undefined
  return { cost: expectedCost ?? cost, isEstimated: isPartial || expectedCost !== undefined }
}

/** Returns what an answer was expected to cost, in nanodollars. */
function expectedCostOf({ target, model, work, requested, reservation }: Billed, prices: Prices): number | undefined {
  const usage = reservation?.uncounted
  if (usage === undefined || target === undefined) return undefined
  return costOfAnswers(prices, [{ target, model, usage, facts: expectedFacts(usage, work, requested) }]).cost
}

/** Usage of a request that no upstream answered. */
const NO_USAGE: Usage = {}

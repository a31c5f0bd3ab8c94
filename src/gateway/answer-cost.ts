import type { PartPosition } from '../canonical/event.ts'
import type { CanonicalResult, Usage } from '../canonical/result.ts'
import type { BilledFacts } from '../upstreams/catalogue/billed-facts.ts'
import type { Prices } from '../upstreams/catalogue/rates.ts'
import type { Target } from '../upstreams/router.ts'
import { upstreamNameOf } from '../upstreams/upstream-names.ts'

/** An answer that an upstream bills. `model` is the public id of the model, and `usage` is undefined if unknown. */
export interface PaidAnswer {
  readonly target: Target
  readonly model: string | undefined
  readonly usage: Usage | undefined
  readonly facts: BilledFacts
}

/** Cost of several answers. */
interface AnswerCost {
  /** Nanodollars, or undefined if the cost of an answer is unknown. */
  readonly cost: number | undefined
  /** True if the cost leaves out calls of hosted tools, because their price is unknown. */
  readonly isPartial: boolean
}

/**
 * Adds up the cost of answers. If only the price of an answer's calls of hosted tools is unknown, such as web fetches,
 * the answer costs its tokens: otherwise no budget would count them.
 */
export function costOfAnswers(prices: Prices, answers: readonly PaidAnswer[]): AnswerCost {
  let [sum, isPartial] = [0, false]
  for (const { target, model, usage, facts } of answers) {
    if (model === undefined || usage === undefined) return UNKNOWN_COST
    const requested = { model, upstreamModel: target.upstreamModel, provider: target.channel.provider }
    const other = otherModelOf(target, facts)
    const priced = other !== undefined && prices.cost(other, TEXT, facts) !== undefined ? other : requested
    const cost = prices.cost(priced, usage, facts)
    isPartial ||= cost === undefined
    const part = cost ?? prices.cost(priced, withoutCalls(usage), facts)
    if (part === undefined) return UNKNOWN_COST
    sum += part
  }
  return { cost: sum, isPartial }
}

/** The smallest usage of a model that has a price. */
const TEXT: Usage = { input: 1, output: 1 }

/**
 * Returns the model that answered instead of the requested one, or undefined if that one did or it is unknown. An answer
 * names the version of a model that a request names without it.
 */
function otherModelOf({ channel, upstreamModel }: Target, { model: answered, otherModels }: BilledFacts) {
  if (answered === undefined || otherModels === undefined) return undefined
  const provider = channel.provider
  const all = otherModels.map(model => {
    return { model, upstreamModel: upstreamNameOf(channel.models, model, undefined) ?? model, provider }
  })
  const fitting = all.filter(one => answered.startsWith(one.upstreamModel))
  const best = fitting.sort((one, other) => other.upstreamModel.length - one.upstreamModel.length)[0]
  const isRequested = answered.startsWith(upstreamModel) && upstreamModel.length >= (best?.upstreamModel.length ?? 0)
  return isRequested ? undefined : best
}

const UNKNOWN_COST: AnswerCost = { cost: undefined, isPartial: false }

const withoutCalls = ({ hostedCalls: _, searches: __, ...tokens }: Usage): Usage => tokens

/** Web searches that the upstream ran for an answer, and the queries that they had. */
export class SearchCount {
  searches = 0
  queries = 0
  /** Numbers of queries of the searches in a stream, by their positions. Created at the first search. */
  private streamed: Map<string, number> | undefined

  /** Counts a part of the answer, if it is a search. */
  add(part: CountedPart): void {
    if (part.type !== 'search-call') return
    this.searches++
    this.queries += part.queries?.length ?? 0
  }

  /**
   * Counts a part of a stream as it is now. A call that turns out to be no search, such as one that opens a page, is not
   * billed (docs/wire/responses.md#web-search).
   */
  update({ candidate, part: index }: PartPosition, part: CountedPart): void {
    const isSearch = part.type === 'search-call'
    if (!isSearch && this.streamed === undefined) return
    const streamed = (this.streamed ??= new Map())
    const position = `${candidate} ${index}`
    const before = streamed.get(position)
    if (before !== undefined) {
      this.searches--
      this.queries -= before
    }
    this.add(part)
    if (isSearch) streamed.set(position, part.queries?.length ?? 0)
    else streamed.delete(position)
  }
}

type CountedPart = { readonly type: string; readonly queries?: readonly string[] }

/** Counts the web searches in an answer. */
export function searchesIn({ candidates }: CanonicalResult): SearchCount {
  const count = new SearchCount()
  for (const { content } of candidates) for (const part of content) count.add(part)
  return count
}

/**
 * Adds the web searches in an answer to its usage, for upstreams that bill them but do not count them there
 * (docs/wire/responses.md#web-search).
 */
export const withSearches = (usage: Usage, count: number): Usage =>
  count === 0 || usage.hostedCalls !== undefined || usage.searches !== undefined
    ? usage
    : { ...usage, hostedCalls: { 'web-search': count } }

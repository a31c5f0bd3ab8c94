import { type CanonicalResult, totalUsage, type Usage } from '../canonical/result.ts'
import type { Work } from '../canonical/work.ts'
import { isCounted } from '../store/usage/row.ts'
import { type BilledFacts, imagesIn } from '../upstreams/catalogue/billed-facts.ts'
import { billedIterations } from '../upstreams/catalogue/iterations.ts'
import type { Target } from '../upstreams/router.ts'
import { searchesIn, withSearches } from './answer-cost.ts'
import { NO_TOKENS } from './answer-meter.ts'

/** Usage of an answer that was not sent to the caller. */
export interface UnsentAnswer {
  readonly target: Target
  /** Public id of the model. */
  readonly model: string
  readonly usage: Usage
  readonly facts: BilledFacts
  /** True for a part of a streamed answer whose model paused behind it: the caller got it, and its usage is exact. */
  readonly isPaused?: true
}

/** Maximum number of answers that are remembered one by one. The usage of further ones is added to the last. */
const MAX_ANSWERS = 1000

/**
 * Usage of answers that an upstream counted, and has therefore billed, but that the caller did not get, for example
 * because the model refused and a fallback model answered, or because an image endpoint got no image. The request pays
 * for them, too. Otherwise such answers, of which errors may show a part, would be free.
 */
export class UnsentAnswers {
  private answers: UnsentAnswer[] | undefined

  get all(): readonly UnsentAnswer[] {
    return this.answers ?? NONE
  }

  /** Adds an answer of a target. */
  add(answer: UnsentAnswer): void {
    this.answers ??= []
    const last = this.answers.at(-1)
    if (last?.target === answer.target && this.answers.length >= MAX_ANSWERS)
      this.answers[this.answers.length - 1] = { ...last, usage: sumOf(last.usage, answer.usage) }
    else this.answers.push(answer)
  }

  /**
   * Adds what an upstream bills for an answer beside its counts, such as the summary of a long conversation.
   *
   * @param answerOf returns the other fields of such an answer. Most answers have no such steps.
   */
  addIterations(counted: Usage, answerOf: () => Omit<UnsentAnswer, 'usage'>): void {
    for (const { upstreamModel, usage } of billedIterations(counted)) {
      if (!isCounted(usage)) continue
      const answer = answerOf()
      const { target } = answer
      if (upstreamModel === undefined || upstreamModel === target.upstreamModel) this.add({ ...answer, usage })
      else this.add({ ...answer, target: { ...target, upstreamModel }, model: upstreamModel, usage })
    }
  }

  /** Returns the answers of a target that the caller did not get. */
  of(target: Target): readonly UnsentAnswer[] {
    return this.answers?.filter(answer => isOf(target, answer)) ?? NONE
  }

  /** Forgets the answers of a target, because the caller gets them. */
  forget(target: Target): void {
    this.answers = this.answers?.filter(answer => !isOf(target, answer))
  }

  /** Returns the usage of all answers, with the usage of the answer that was sent. */
  with(sent: Usage): Usage {
    return this.all.reduce((sum, { usage }) => sumOf(sum, usage), sent)
  }
}

const NONE: readonly UnsentAnswer[] = []

const isOf = (target: Target, answer: UnsentAnswer): boolean => answer.target === target && answer.isPaused !== true

const sumOf = (one: Usage, other: Usage): Usage => totalUsage([one, other])!

/**
 * Returns the usage of a whole answer and the facts on which its cost depends. Returns undefined if the upstream counted
 * nothing and made no images, which it may bill one by one.
 */
export function billedAnswer(result: CanonicalResult, work: Work): Pick<UnsentAnswer, 'usage' | 'facts'> | undefined {
  const { usage, serviceTier: tier } = result
  const images = work === 'image' ? imagesIn(result) : 0
  const isUncounted = usage === undefined || !isCounted(usage)
  if (isUncounted && images === 0) return undefined
  const { searches, queries } = searchesIn(result)
  const facts = { tier, queries, ...(images > 0 && { images }) }
  return { usage: isUncounted ? NO_TOKENS : withSearches(usage, searches), facts }
}

/**
 * Returns the answers that an answer was put together from, because each has its own price: that of its size, its tier
 * and its request. Returns undefined for an answer that is one of them.
 */
export function partsOf({ input, output }: Usage, parts: readonly UnsentAnswer[]): readonly UnsentAnswer[] | undefined {
  if (parts.length < 2) return undefined
  const sum = (count: 'input' | 'output'): number =>
    parts.reduce((total, { usage }) => total + (usage?.[count] ?? 0), 0)
  return sum('input') === (input ?? 0) && sum('output') === (output ?? 0) ? parts : undefined
}

import type { CanonicalEvent, PartStart } from '../canonical/event.ts'
import type { CanonicalResult, Transcript, Usage } from '../canonical/result.ts'
import type { CanonicalTask } from '../canonical/task.ts'
import type { Work } from '../canonical/work.ts'
import { isCounted } from '../store/usage/row.ts'
import {
  type BilledFacts,
  imagesIn,
  isImage,
  recordingSeconds,
  videoSecondsOf,
} from '../upstreams/catalogue/billed-facts.ts'
import { SearchCount, searchesIn } from './answer-cost.ts'
import { estimatedUsage, lengthOf, TEXT_WORK } from './uncounted.ts'

/** Kinds of work beside texts and images that no upstream does for zero tokens. */
const COUNTED_BY_PROMPT: ReadonlySet<Work> = new Set(['embedding', 'ranking', 'speech', 'transcription'])

/** Measures the cost of the answer of one target, while it is streamed or when it is read as a whole. */
export class AnswerMeter {
  /** The upstream's latest count. */
  usage: Usage | undefined
  /** Name that the upstream gives the model in its answer. */
  model: string | undefined
  /** True if the whole answer was read, so that its cost is fully counted. */
  isComplete = false
  /** Web searches in the answer so far. */
  searches = new SearchCount()
  /** Number of characters of the answer so far. */
  private writtenLength = 0
  /** Value of `writtenLength` at the upstream's last usage count. */
  private lengthAtCount = 0
  private hasMedia = false
  /** Number of images in the answer so far. */
  private images = 0
  /** The task that the answer created, if it created one. */
  private task: CanonicalTask | undefined
  /** Service tier that the answer states. */
  private tier: string | undefined
  private transcript: Transcript | undefined
  private readonly work: Work
  private readonly requested: BilledFacts

  /** @param requested facts that the request states. */
  constructor(work: Work, requested: BilledFacts) {
    this.work = work
    this.requested = requested
  }

  observe(event: CanonicalEvent): void {
    // The usage of a whole answer is known before it is sent as a stream.
    if (this.isComplete) return
    if (event.type === 'part-delta') this.writtenLength += event.append.length
    else if (event.type === 'part-start') this.observePart(event)
    else if (event.type === 'part-patch' && event.part !== undefined) this.searches.update(event.at, event.part)
    else if (event.type === 'usage') this.countUsage(event.usage)
    else if (event.type === 'transcript') this.transcript = { ...this.transcript, ...event.transcript }
    else if (event.type === 'result-start') this.tier = event.serviceTier
    else if (event.type === 'result-end') {
      this.isComplete = true
      this.tier = event.serviceTier ?? this.tier
    }
  }

  private observePart({ at, part }: PartStart): void {
    this.hasMedia ||= part.type === 'media'
    if (isImage(part)) this.images++
    this.searches.update(at, part)
  }

  private countUsage(usage: Usage): void {
    this.usage = usage
    this.lengthAtCount = this.writtenLength
  }

  /** Records a whole answer. */
  recordResult(result: CanonicalResult): void {
    const { usage } = result
    // A token count reports the tokens of a later request, and uses none.
    this.usage = this.work === 'count' ? undefined : usage
    if (usage === undefined || !isCounted(usage) || usage.output === 0) this.writtenLength = lengthOf(result)
    this.searches = searchesIn(result)
    this.images = imagesIn(result)
    this.task = result.task
    this.tier = result.serviceTier
    this.transcript = result.candidates[0]?.transcript
    this.isComplete = true
  }

  /** The upstream's count of the whole answer. Has no tokens if the upstream states the length of a recording instead. */
  get counted(): Usage | undefined {
    const { isComplete, usage } = this
    if (!isComplete) return undefined
    if (usage !== undefined && isCounted(usage) && !this.isEmptyCount(usage)) return usage
    return this.seconds === undefined ? undefined : NO_TOKENS
  }

  /** Returns true for a count of zero tokens for an answer that needs some. Some servers state it instead of none. */
  private isEmptyCount({ input = 0, output, searches = 0 }: Usage): boolean {
    const { work, images, writtenLength } = this
    if (TEXT_WORK.has(work)) return output === 0 && writtenLength > 0
    if (input !== 0 || output || searches !== 0) return false
    return work === 'image' ? images > 0 : COUNTED_BY_PROMPT.has(work)
  }

  /** The facts on which the cost depends. Until an answer states its tier, the requested one counts. */
  get facts(): BilledFacts {
    const { isComplete, requested, seconds, searches, model, work, images, task } = this
    const tier = this.tier ?? (isComplete ? undefined : requested.tier)
    return {
      ...{ ...requested, tier, seconds, queries: searches.queries, model },
      images: work === 'image' && images > 0 ? images : undefined,
      videoSeconds: task === undefined ? requested.videoSeconds : videoSecondsOf(task, requested),
    }
  }

  /** Length of the transcribed recording, in seconds, if the upstream states it. */
  private get seconds(): number | undefined {
    return this.work === 'transcription' ? recordingSeconds(this.usage, this.transcript) : undefined
  }

  /**
   * Estimates the usage of an answer that was not counted. Returns undefined if that is impossible.
   *
   * @param input expected tokens of the prompt.
   * @param unreceived expected tokens of an answer that is not received piece by piece.
   */
  estimate(input: number, unreceived: number): Usage | undefined {
    if (this.hasMedia) return undefined
    const { work, usage, writtenLength: written, lengthAtCount } = this
    const lastCount = usage !== undefined && this.isComplete && this.isEmptyCount(usage) ? inputOf(usage) : usage
    return estimatedUsage({ work, lastCount, written, writtenSince: written - lengthAtCount, input, unreceived })
  }
}

/** Returns the count of the prompt alone, if it is not empty either. */
const inputOf = ({ output: _, input, ...usage }: Usage): Usage | undefined => (input ? { ...usage, input } : undefined)

/** Usage of an answer that is billed by other units than tokens. */
export const NO_TOKENS: Usage = { extras: {} }

import { setTimeout as sleep } from 'node:timers/promises'
import type { Part } from '../../canonical/content.ts'
import type { Format } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import { isSigned } from '../../canonical/signature.ts'
import type { ReasoningMemoryConfig } from '../../config/index.ts'
import { WRITERS } from '../../egress/index.ts'
import { LogOnce } from '../../log.ts'
import { preferring, type Target } from '../../upstreams/router.ts'
import { reasoningShown } from '../shown-reasoning.ts'
import { idKey, isNumberedId, keysOf, mayLoseId, unknownKeys } from './call-keys.ts'
import { type CalledStep, Collector, stepsOf } from './collector.ts'
import { FullDigest } from './conversation-digest.ts'
import { issuerOf } from './issuer.ts'
import { MemoryStore } from './memory-store.ts'
import { recall } from './recall.ts'
import type { Recalled } from './recalled.ts'
import type { SharedReasoning } from './shared-reasoning.ts'
import type { AnswerReasoning, Step } from './types.ts'

/** Maximum time for which the shutdown waits for the store, in milliseconds. */
const CLOSE_TIMEOUT = 3000
const TIMER_OPTIONS = { ref: false }

/**
 * Remembers the reasoning before tool calls for callers that do not return it, because their format cannot or their
 * client drops it.
 */
export class ReasoningMemory {
  private readonly store: MemoryStore
  private readonly faults: LogOnce
  private retention: number
  private readonly shared: SharedReasoning | undefined

  /**
   * @param onFault called once per kind of fault. Faults of the memory never fail a request.
   * @param shared the reasoning that instances share. Absent if there is only one instance.
   */
  constructor(
    config: ReasoningMemoryConfig,
    now?: () => number,
    onFault: (thrown: unknown) => void = () => {},
    shared?: SharedReasoning,
  ) {
    this.store = new MemoryStore(config, now)
    this.shared = shared
    this.faults = new LogOnce(onFault)
    this.retention = config.retention
  }

  /** Returns the memory of one owner, or undefined if memory is switched off. */
  of(owner: string): OwnerReasoning | undefined {
    return this.retention === 0
      ? undefined
      : new OwnerReasoning(
          this.store,
          owner,
          this.faults,
          this.shared && { all: this.shared, lifetime: this.retention },
        )
  }

  /** Applies a new config. Stored reasoning within the new limits stays. */
  reload(config: ReasoningMemoryConfig): void {
    this.retention = config.retention
    if (config.retention === 0) this.store.clear()
    else this.store.reload(config)
  }

  /**
   * Number of answers whose reasoning was not shared with other instances because the queue was full or the store
   * failed.
   */
  get dropped(): number {
    return this.shared?.journal.dropped ?? 0
  }

  /** Clears the memory. Waits at most a few seconds until all reasoning is stored for other instances. */
  async close(): Promise<void> {
    this.store.clear()
    if (this.shared !== undefined)
      await Promise.race([this.shared.journal.idle(), sleep(CLOSE_TIMEOUT, undefined, TIMER_OPTIONS)])
  }
}

/**
 * Returns true if a request or its answer may contain reasoning before tool calls. A request of plain text without
 * tools does not, unless its `extras` refer to a prompt stored upstream, which may declare tools.
 *
 * @param textOnly the result of `isTextOnly`.
 */
export const mayHoldReasoning = ({ tools, extras }: CanonicalRequest, textOnly: boolean): boolean =>
  (tools !== undefined && tools.length > 0) || extras !== undefined || !textOnly

/** An answered request, reduced to the data that the memory needs. */
interface AnsweredRequest {
  readonly attempt: {
    readonly incoming: { readonly call: { readonly format: Format } }
    readonly target: Target
    readonly request: CanonicalRequest
  }
  readonly prepared: { readonly recalled: Recalled | undefined }
}

/** Reasoning shared with other instances, and its retention in milliseconds. */
interface OtherInstances {
  readonly all: SharedReasoning
  readonly lifetime: number
}

/** The remembered reasoning of one owner, invisible to all others. */
export class OwnerReasoning {
  private readonly store: MemoryStore
  private readonly owner: string
  private readonly faults: LogOnce
  private readonly otherInstances: OtherInstances | undefined

  constructor(store: MemoryStore, owner: string, faults: LogOnce, otherInstances?: OtherInstances) {
    this.store = store
    this.owner = owner
    this.faults = faults
    this.otherInstances = otherInstances
  }

  /** True if other instances may have reasoning for a request. If so, await `fetch` before `recall`. */
  get isShared(): boolean {
    return this.otherInstances !== undefined
  }

  /**
   * Fetches the reasoning of other instances for tool calls that are unknown here. Never rejects.
   *
   * @param format the caller's format.
   */
  async fetch(request: CanonicalRequest, format: Format): Promise<void> {
    const { store, owner, otherInstances } = this
    if (otherInstances === undefined) return
    const unknown = this.faults.attempt(() => unknownKeys(request, format, key => this.isUnknown(key)), [])
    if (unknown.length === 0) return
    for (const { keys, thoughts } of await otherInstances.all.find(owner, unknown)) {
      const fresh = keys.map(callKeys => callKeys.filter(key => !store.has(owner, key)))
      if (fresh.some(({ length }) => length > 0))
        this.faults.attempt(() => store.save(owner, fresh, thoughts), undefined)
    }
  }

  private isUnknown(key: string): boolean {
    return !this.store.has(this.owner, key) && this.otherInstances!.all.mayHave(this.owner, key)
  }

  /** Restores the reasoning that the caller dropped, as far as the target accepts it. */
  recall(request: CanonicalRequest, target: Target): Recalled | undefined {
    if (!this.store.holds(this.owner)) return undefined
    return this.faults.attempt(() => recall(request, target, this.store, this.owner), undefined)
  }

  /** Stores the reasoning before the tool calls of a whole answer. Stores nothing if the answer has an error. */
  save({ candidates, error }: CanonicalResult, answeredRequest: AnsweredRequest): void {
    if (error !== undefined) return
    this.faults.attempt(() => {
      for (const { content } of candidates) {
        const steps = stepsOf(content)
        if (steps.length > 0) this.add(steps, answeredRequest)
      }
    }, undefined)
  }

  /** Like `save`, for a streamed answer. Stores the reasoning at the end of the answer. */
  collector(answeredRequest: AnsweredRequest): Collector {
    return new Collector(mayDropIds(answeredRequest), steps =>
      this.faults.attempt(() => this.add(steps, answeredRequest), undefined),
    )
  }

  /**
   * Among targets of equal priority and resting state, moves those that issued the latest reasoning to the front. Only
   * they can verify its signatures (trap 33).
   */
  preferIssuer(targets: readonly Target[], request: CanonicalRequest): readonly Target[] {
    if (targets.length < 2 || !this.store.holds(this.owner)) return targets
    const issuer = this.faults.attempt(() => this.lastIssuer(request), undefined)
    return issuer === undefined ? targets : preferring(targets, target => issuerOf(target) === issuer)
  }

  private lastIssuer({ messages }: CanonicalRequest): string | undefined {
    const content = messages.findLast(({ content }) => content.some(({ type }) => type === 'tool-call'))?.content ?? []
    for (const part of content) {
      if (part.type !== 'tool-call' || isNumberedId(part.id, part.name)) continue
      const found = this.store.find(this.owner, idKey(part.id))
      if (found !== undefined) return found.reasoning.issuer
    }
    return undefined
  }

  /**
   * Removes the reasoning stored for earlier calls with the same keys, because the new calls have none. Most upstreams
   * give every call a new id, but some reuse ids.
   */
  private forget(steps: readonly CalledStep[], answeredRequest: AnsweredRequest): void {
    const { store, owner, otherInstances } = this
    if (otherInstances === undefined && !store.holds(owner)) return
    const keys = keysOf(steps, answeredRequest.attempt.request, mayDropIds(answeredRequest))
    store.forget(owner, keys)
    otherInstances?.all.forget(owner, keys)
  }

  private add(steps: readonly CalledStep[], answeredRequest: AnsweredRequest): void {
    const { target, request } = answeredRequest.attempt
    if (!steps.some(({ lead, next }) => lead.length > 0 || next.length > 0)) return this.forget(steps, answeredRequest)
    if (reasoningShown(answeredRequest.attempt) === 'all' && returnsReasoning(request, steps)) return
    const { native } = target
    const { format, dialect } = target.format
    const dependOnPrefix = WRITERS[format]!.boundSignatures?.({ dialect, native }) === true
    const thoughts: AnswerReasoning = {
      format,
      issuer: issuerOf(target),
      steps: steps.map(({ lead, next, mixed }) => ({ lead, next, ...(mixed ? { mixed } : {}) })),
      ...(dependOnPrefix ? { prefix: prefixOf(answeredRequest.prepared.recalled?.request ?? request) } : {}),
    }
    const keys = keysOf(steps, request, mayDropIds(answeredRequest))
    this.store.save(this.owner, keys, thoughts)
    this.otherInstances?.all.save(this.owner, keys, thoughts, this.otherInstances.lifetime)
  }
}

function prefixOf(request: CanonicalRequest): string {
  const digest = new FullDigest(request)
  for (const message of request.messages) digest.message(message)
  return digest.digest
}

/** Returns a predicate: true if the caller may return a call without an id, or with an id that recurs. */
const mayDropIds =
  ({ attempt }: AnsweredRequest) =>
  (step: Pick<CalledStep, 'id' | 'name'>): boolean =>
    mayLoseId(step, attempt.incoming.call.format)

/**
 * Returns true if the caller returns this kind of reasoning itself, judging by its last turn with tool calls, so that
 * nothing needs to be stored. A caller that returns the text without the signature still needs the memory, and so does
 * one that returns the signatures of other formats only, as callers of Chat Completions do with those of Gemini.
 */
function returnsReasoning({ messages }: CanonicalRequest, steps: readonly Step[]): boolean {
  let at = messages.findLastIndex(({ content }) => content.some(({ type }) => type === 'tool-call'))
  const issued = new Set(
    steps.flatMap(({ lead, next }) => [...lead, ...next]).flatMap(one => one.signature?.format ?? []),
  )
  const isReturned = (part: Part): boolean =>
    part.type === 'reasoning' && (issued.size === 0 || (isSigned(part) && issued.has(part.signature!.format)))
  while (messages[at]?.role === 'assistant') if (messages[at--]!.content.some(isReturned)) return true
  return false
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { Part } from '../../canonical/content.ts'
import type { Format } from '../../canonical/node.ts'
import { type CanonicalRequest, isTextOnly } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import { isSigned } from '../../canonical/signature.ts'
import type { ThoughtsConfig } from '../../config/index.ts'
import { WRITERS } from '../../egress/index.ts'
import { READERS } from '../../ingress/index.ts'
import { LogOnce } from '../../log.ts'
import { preferring, type Target } from '../../upstreams/router.ts'
import { reasoningShown } from '../shown-reasoning.ts'
import { idKey, isCounted, keysOf, unknownKeys } from './call-keys.ts'
import { type CalledStep, Collector, stepsOf } from './collector.ts'
import { MemoryStore } from './memory.ts'
import { issuerOf, recall } from './recall.ts'
import type { Recalled } from './recalled.ts'
import type { SharedThoughts } from './shared-thoughts.ts'
import type { KeptThoughts, Step } from './store.ts'
import { WholeTrail } from './trail.ts'

/** ms; how long the shutdown waits for the store. */
const LAST = 3000
const UNHELD = { ref: false }

/**
 * Remembers the reasoning before tool calls, which some formats cannot return to the upstream and some clients drop.
 */
export class Thoughts {
  private readonly store: MemoryStore
  private readonly faults: LogOnce
  private keep: number
  private readonly shared: SharedThoughts | undefined

  /**
   * @param onFault called once per kind of fault that prevented storing; no request fails for it.
   * @param shared the reasoning of other instances; absent if there are none.
   */
  constructor(
    config: ThoughtsConfig,
    now?: () => number,
    onFault: (thrown: unknown) => void = () => {},
    shared?: SharedThoughts,
  ) {
    this.store = new MemoryStore(config, now)
    this.shared = shared
    this.faults = new LogOnce(onFault)
    this.keep = config.keep
  }

  /** The remembered reasoning of one owner; undefined if memory is switched off. */
  of(owner: string): OwnThoughts | undefined {
    return this.keep === 0
      ? undefined
      : new OwnThoughts(this.store, owner, this.faults, this.shared && { all: this.shared, keep: this.keep })
  }

  /** Applies another config. Stored reasoning remains within the new limits. */
  reload(config: ThoughtsConfig): void {
    this.keep = config.keep
    if (config.keep === 0) this.store.clear()
    else this.store.reload(config)
  }

  /**
   * The number of answers whose reasoning is missing for other instances, because the queue was full or the store
   * failed.
   */
  get dropped(): number {
    return this.shared?.journal.dropped ?? 0
  }

  /** Waits a few seconds at most until the reasoning is stored for other instances. */
  async close(): Promise<void> {
    this.store.clear()
    if (this.shared !== undefined) await Promise.race([this.shared.journal.idle(), sleep(LAST, undefined, UNHELD)])
  }
}

/**
 * Whether a request or its answer may contain reasoning before tool calls. A request of plain text without tools does
 * not, unless an upstream's stored prompt, in `extras`, declares tools.
 */
export const mayRemember = (request: CanonicalRequest): boolean =>
  (request.tools !== undefined && request.tools.length > 0) || request.extras !== undefined || !isTextOnly(request)

/** An answered request, reduced to what the memory needs. */
interface Asked {
  readonly attempt: {
    readonly call: { readonly format: Format }
    readonly target: Target
    readonly request: CanonicalRequest
  }
  readonly prepared: { readonly recalled: Recalled | undefined }
}

/** The reasoning of other instances, and the ms for which it is stored. */
interface Elsewhere {
  readonly all: SharedThoughts
  readonly keep: number
}

/** The remembered reasoning of one owner; invisible to all others. */
export class OwnThoughts {
  private readonly store: MemoryStore
  private readonly owner: string
  private readonly faults: LogOnce
  private readonly elsewhere: Elsewhere | undefined

  constructor(store: MemoryStore, owner: string, faults: LogOnce, elsewhere?: Elsewhere) {
    this.store = store
    this.owner = owner
    this.faults = faults
    this.elsewhere = elsewhere
  }

  /** Whether other instances may hold reasoning for a request, so that `fetch` must come first. */
  get isShared(): boolean {
    return this.elsewhere !== undefined
  }

  /**
   * Fetches the reasoning of other instances for tool calls that are unknown here. Never rejects.
   *
   * @param format the caller's format.
   */
  async fetch(request: CanonicalRequest, format: Format): Promise<void> {
    const { store, owner, elsewhere } = this
    if (elsewhere === undefined) return
    const unknown = this.faults.attempt(() => unknownKeys(request, format, key => this.isUnknown(key)), [])
    if (unknown.length === 0) return
    for (const { keys, thoughts } of await elsewhere.all.find(owner, unknown)) {
      const fresh = keys.map(some => some.filter(key => !store.has(owner, key)))
      if (fresh.some(some => some.length > 0)) this.faults.attempt(() => store.keep(owner, fresh, thoughts), undefined)
    }
  }

  private isUnknown(key: string): boolean {
    return !this.store.has(this.owner, key) && this.elsewhere!.all.mayHave(this.owner, key)
  }

  /** Restores the reasoning that the caller no longer has, as far as the target accepts it. */
  recall(request: CanonicalRequest, target: Target): Recalled | undefined {
    if (!this.store.holds(this.owner)) return undefined
    return this.faults.attempt(() => recall(request, target, this.store, this.owner), undefined)
  }

  /** Stores the reasoning before the tool calls of a whole answer; stores nothing if the answer has an error. */
  keep({ candidates, error }: CanonicalResult, asked: Asked): void {
    if (error !== undefined) return
    this.faults.attempt(() => {
      for (const { content } of candidates) {
        const steps = stepsOf(content)
        if (steps.length > 0) this.add(steps, asked)
      }
    }, undefined)
  }

  /** As `save`, for a streamed answer; stores the reasoning at its end. */
  collector(asked: Asked): Collector {
    return new Collector(mayDropIds(asked), steps => this.faults.attempt(() => this.add(steps, asked), undefined))
  }

  /**
   * Moves the targets that issued the latest reasoning to the front, among targets of equal priority and rest: only
   * they can verify its signatures (trap 33).
   */
  among(targets: readonly Target[], request: CanonicalRequest): readonly Target[] {
    if (targets.length < 2 || !this.store.holds(this.owner)) return targets
    const maker = this.faults.attempt(() => this.lastMaker(request), undefined)
    return maker === undefined ? targets : preferring(targets, target => issuerOf(target) === maker)
  }

  private lastMaker({ messages }: CanonicalRequest): string | undefined {
    const content = messages.findLast(({ content }) => content.some(({ type }) => type === 'tool-call'))?.content ?? []
    for (const part of content) {
      if (part.type !== 'tool-call' || isCounted(part.id, part.name)) continue
      const found = this.store.find(this.owner, idKey(part.id))
      if (found !== undefined) return found.thoughts.issuer
    }
    return undefined
  }

  /**
   * Removes stored reasoning under the keys of calls made without any. Most upstreams give every call a new id, but
   * some ids recur.
   */
  private forget(steps: readonly CalledStep[], asked: Asked): void {
    const { store, owner, elsewhere } = this
    if (elsewhere === undefined && !store.holds(owner)) return
    const keys = keysOf(steps, asked.attempt.request, mayDropIds(asked))
    store.forget(owner, keys)
    elsewhere?.all.forget(owner, keys)
  }

  private add(steps: readonly CalledStep[], asked: Asked): void {
    const { target, request } = asked.attempt
    if (!steps.some(({ lead, next }) => lead.length > 0 || next.length > 0)) return this.forget(steps, asked)
    if (reasoningShown(asked.attempt) === 'all' && handsBack(request, steps)) return
    const { native } = target
    const { format, dialect } = target.format
    const bound = WRITERS[format]!.boundProofs?.({ dialect, native }) === true
    const thoughts: KeptThoughts = {
      format,
      issuer: issuerOf(target),
      steps: steps.map(({ lead, next, mixed }) => ({ lead, next, ...(mixed ? { mixed } : {}) })),
      ...(bound ? { prefix: prefixOf(asked.prepared.recalled?.request ?? request) } : {}),
    }
    const keys = keysOf(steps, request, mayDropIds(asked))
    this.store.keep(this.owner, keys, thoughts)
    this.elsewhere?.all.keep(this.owner, keys, thoughts, this.elsewhere.keep)
  }
}

function prefixOf(request: CanonicalRequest): string {
  const trail = new WholeTrail(request)
  for (const message of request.messages) trail.message(message)
  return trail.digest
}

/** Whether a call may come back without the caller's id, or with an id that other calls have too. */
const mayDropIds =
  ({ attempt }: Asked) =>
  ({ id, name }: Pick<CalledStep, 'id' | 'name'>): boolean =>
    READERS[attempt.call.format]!.dropsIds === true || isCounted(id, name)

const isThought = (part: Part): boolean => part.type === 'reasoning'

/**
 * Whether the caller returns such reasoning by itself, as its last turn with tool calls shows; nothing must be stored
 * then. A caller that returns the text without the signature still needs the memory.
 */
function handsBack({ messages }: CanonicalRequest, steps: readonly Step[]): boolean {
  let at = messages.findLastIndex(({ content }) => content.some(({ type }) => type === 'tool-call'))
  const signed = steps.some(({ lead, next }) => lead.some(isSigned) || next.some(isSigned))
  while (messages[at]?.role === 'assistant')
    if (messages[at--]!.content.some(signed ? isSigned : isThought)) return true
  return false
}

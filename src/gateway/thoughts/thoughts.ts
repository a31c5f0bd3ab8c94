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

/** Milliseconds that the end of the gateway waits for the store. */
const LAST = 3000
const UNHELD = { ref: false }

/** The thoughts before calls that callers' formats have no place for, or their clients throw away. */
export class Thoughts {
  private readonly store: MemoryStore
  private readonly faults: LogOnce
  private keep: number
  private readonly shared: SharedThoughts | undefined

  /**
   * @param onFault called once a kind of fault that kept something from being remembered; no request fails for it.
   * @param shared where other instances have theirs; absent where there are none.
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

  /** Those of one owner; undefined where none are kept. */
  of(owner: string): OwnThoughts | undefined {
    return this.keep === 0
      ? undefined
      : new OwnThoughts(this.store, owner, this.faults, this.shared && { all: this.shared, keep: this.keep })
  }

  /** Takes another config; what is kept stays, as far as it allows. */
  reload(config: ThoughtsConfig): void {
    this.keep = config.keep
    if (config.keep === 0) this.store.clear()
    else this.store.reload(config)
  }

  /** Answers whose thoughts other instances cannot find, as there was no room for them or the store took none. */
  get dropped(): number {
    return this.shared?.journal.dropped ?? 0
  }

  /** Settles when what others may need is stored, or the store is too slow for that. */
  async close(): Promise<void> {
    this.store.clear()
    if (this.shared !== undefined) await Promise.race([this.shared.journal.idle(), sleep(LAST, undefined, UNHELD)])
  }
}

/**
 * Whether a request, or the answer to it, may have calls with thoughts before them: what is nothing but text has none, nor
 * has its answer without tools, unless a prompt of an upstream's own declares some.
 */
export const mayRemember = (request: CanonicalRequest): boolean =>
  (request.tools !== undefined && request.tools.length > 0) || request.extras !== undefined || !isTextOnly(request)

/** The request that an answer was made for. */
interface Asked {
  readonly attempt: {
    readonly call: { readonly format: Format }
    readonly target: Target
    readonly request: CanonicalRequest
  }
  readonly prepared: { readonly recalled: Recalled | undefined }
}

/** Where other instances have their thoughts, and for how many milliseconds they are kept there. */
interface Elsewhere {
  readonly all: SharedThoughts
  readonly keep: number
}

/** What is kept for one owner, and is visible to no other. */
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

  /** Whether other instances may have thoughts for requests: `fetch` comes first then. */
  get isShared(): boolean {
    return this.elsewhere !== undefined
  }

  /**
   * Takes over what other instances thought before the calls of a request that are unknown here. Never rejects.
   *
   * @param format the caller's.
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

  /** The request with what its caller no longer has, as far as the target can read it. */
  recall(request: CanonicalRequest, target: Target): Recalled | undefined {
    if (!this.store.holds(this.owner)) return undefined
    return this.faults.attempt(() => recall(request, target, this.store, this.owner), undefined)
  }

  /** Keeps what was thought before the calls of a whole answer; one with an error is none. */
  keep({ candidates, error }: CanonicalResult, asked: Asked): void {
    if (error !== undefined) return
    this.faults.attempt(() => {
      for (const { content } of candidates) {
        const steps = stepsOf(content)
        if (steps.length > 0) this.add(steps, asked)
      }
    }, undefined)
  }

  /** As `keep`, of an answer that comes event by event; it is kept with the end of it. */
  collector(asked: Asked): Collector {
    return new Collector(mayDropIds(asked), steps => this.faults.attempt(() => this.add(steps, asked), undefined))
  }

  /**
   * The targets, those of one priority that rest alike with those first that made the last thoughts: they alone can
   * read the proofs (trap 33).
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

  /** Most upstreams give no two calls the same id; what was thought before another of the kind is not for these. */
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

/** Whether a call may come back without the id its caller got, or with one that other calls have, too. */
const mayDropIds =
  ({ attempt }: Asked) =>
  ({ id, name }: Pick<CalledStep, 'id' | 'name'>): boolean =>
    READERS[attempt.call.format]!.dropsIds === true || isCounted(id, name)

const isThought = (part: Part): boolean => part.type === 'reasoning'

/**
 * Whether a caller hands thoughts like these back by itself, as its last turn with calls shows: then nobody need
 * remember them, nor read its whole history for that. Who has the words alone still needs their proof.
 */
function handsBack({ messages }: CanonicalRequest, steps: readonly Step[]): boolean {
  let at = messages.findLastIndex(({ content }) => content.some(({ type }) => type === 'tool-call'))
  const signed = steps.some(({ lead, next }) => lead.some(isSigned) || next.some(isSigned))
  while (messages[at]?.role === 'assistant')
    if (messages[at--]!.content.some(signed ? isSigned : isThought)) return true
  return false
}

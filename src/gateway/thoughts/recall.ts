import { createHash } from 'node:crypto'
import type { Part, ToolCallPart } from '../../canonical/content.ts'
import type { Json } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import { isSigned } from '../../canonical/signature.ts'
import type { ChannelFormat } from '../../config/index.ts'
import { WRITERS } from '../../egress/index.ts'
import { Budget } from '../../egress/sanitize/budget.ts'
import type { Target } from '../../upstreams/router.ts'
import { idKey, isCounted, placeKey } from './call-keys.ts'
import type { MemoryStore } from './memory.ts'
import { type Changes, changed, type Recalled, recalledBy } from './recalled.ts'
import type { Found, KeptThoughts } from './store.ts'
import { GistTrail, WholeTrail } from './trail.ts'
import { type Place, type Take, Turn } from './turn.ts'

/**
 * The request with the thoughts its caller no longer has, before the calls they were thought for, as far as the
 * target takes them back; undefined where there is nothing to put back. A turn that has a proof already is left
 * alone. What is put back depends on what stands before it, never on what follows (law 21).
 */
export function recall(
  request: CanonicalRequest,
  target: Target,
  store: MemoryStore,
  owner: string,
): Recalled | undefined {
  const { format, native } = target
  const { handsBack, boundProofs } = WRITERS[format.format]!
  if (handsBack === undefined || !request.messages.some(hasCall)) return undefined
  const issuer = issuerOf(target)
  return new Recall(request, {
    bound: boundProofs?.({ dialect: format.dialect, native }) === true,
    byPlace: store.holdsPlaces(owner),
    find: key => store.find(owner, key),
    takes: ({ format: madeIn, issuer: maker }) => {
      const how = { dialect: format.dialect, native, own: maker === issuer }
      return madeIn === format.format ? thought => handsBack(thought, how) : undefined
    },
  }).done()
}

const hasCall = ({ role, content }: Message): boolean => role === 'assistant' && content.some(isCall)
const isCall = (part: Part): part is ToolCallPart => part.type === 'tool-call'

interface Options {
  /** Proofs are good only where nothing before them changed. */
  readonly bound: boolean
  /** Some calls may be known by their place alone. */
  readonly byPlace: boolean
  find(key: string): Found | undefined
  /** How the target takes a thought of these back; undefined where it takes none. */
  takes(thoughts: KeptThoughts): Take | undefined
}

class Recall {
  private readonly request: CanonicalRequest
  private readonly options: Options
  /** With what was put back so far. */
  private readonly messages: Message[]
  private readonly changes = new Map<number, Changes>()
  private readonly gist = new GistTrail()
  private readonly read = { message: 0, index: 0 }
  private whole: WholeTrail | undefined
  private digested = 0
  /** Answers whose thoughts were put back into an earlier turn, and how much of such may be put back once more. */
  private readonly known = new Set<KeptThoughts>()
  private readonly again = new Budget()

  constructor(request: CanonicalRequest, options: Options) {
    this.request = request
    this.options = options
    this.messages = [...request.messages]
  }

  done(): Recalled | undefined {
    const { messages } = this.request
    for (let first = 0, end = 0; first < messages.length; first = Math.max(end, first + 1)) {
      for (end = first; messages[end]?.role === 'assistant'; end++);
      if (end > first) this.turn(first, end)
    }
    return this.changes.size === 0 ? undefined : recalledBy(this.request, this.messages, this.changes)
  }

  /** The messages of the assistant from `first` on, `end` is no more of them. */
  private turn(first: number, end: number): void {
    const messages = this.request.messages.slice(first, end)
    if (messages.some(({ content }) => content.some(isSigned))) return
    const known = this.foundIn(first, end)
    if (known.size === 0) return
    const places = messages.flatMap(({ content }, at) =>
      content.map((part, index): Place => ({ part, message: first + at, index })),
    )
    const turn = new Turn(places, this.options.bound)
    let from = 0
    for (const [at, { part }] of places.entries()) {
      if (!isCall(part)) continue
      const found = known.get(part)
      if (found !== undefined && this.isUnchanged(found, first) && this.isAffordable(found))
        turn.putBack(found, { from, at, take: this.options.takes(found.thoughts) })
      from = at + 1
    }
    for (const { thoughts } of known.values()) this.known.add(thoughts)
    for (const [message, changes] of turn.changes()) {
      this.changes.set(message, changes)
      this.messages[message] = changed(this.messages[message]!, changes)
    }
  }

  /** The calls of a turn that something is known of. */
  private foundIn(first: number, end: number): ReadonlyMap<ToolCallPart, Found> {
    const known = new Map<ToolCallPart, Found>()
    for (let message = first; message < end; message++)
      for (const [index, part] of this.request.messages[message]!.content.entries()) {
        const found = isCall(part) ? this.find(part, message, index) : undefined
        if (found !== undefined) known.set(part as ToolCallPart, found)
      }
    return known
  }

  private find(call: ToolCallPart, message: number, index: number): Found | undefined {
    const known = isCounted(call.id, call.name) ? undefined : this.options.find(idKey(call.id))
    if (known !== undefined || !this.options.byPlace) return known
    return this.options.find(placeKey(this.gistUpTo(message, index)))
  }

  /** The digest of the conversation up to this call, with the call itself. */
  private gistUpTo(message: number, index: number): string {
    const { read } = this
    for (; read.message < message; read.message++, read.index = 0) this.readTo(Number.POSITIVE_INFINITY)
    this.readTo(index + 1)
    return this.gist.digest
  }

  private readTo(end: number): void {
    const { read } = this
    const { role, content } = this.request.messages[read.message]!
    for (; read.index < Math.min(end, content.length); read.index++) this.gist.part(role, content[read.index]!)
  }

  /** An answer is one turn: where its calls stand in many, its thoughts are put back as far as a budget goes. */
  private isAffordable({ thoughts }: Found): boolean {
    return !this.known.has(thoughts) || this.again.spend(thoughts.steps as unknown as Json)
  }

  /** Whether all that a proof is bound to is as it was when it was made. */
  private isUnchanged({ thoughts: { prefix } }: Found, first: number): boolean {
    if (!this.options.bound || prefix === undefined) return true
    this.whole ??= new WholeTrail(this.request)
    for (; this.digested < first; this.digested++) this.whole.message(this.messages[this.digested]!)
    return this.whole.digest === prefix
  }
}

/**
 * Who can read the proofs of a target's answers: one model of one account at one address. OpenAI's are good in one
 * organisation, the newest ones of Claude in one account, and where another model cannot read one it is refused or
 * dropped (traps 30, 33). A channel may change its name or its limits; with another key it is another issuer.
 */
export const issuerOf = ({ channel, format, upstreamModel }: Target): string =>
  `${accounts.getOrInsertComputed(format, () => accountOf(format, channel.key))} ${upstreamModel}`

const accounts = new WeakMap<ChannelFormat, string>()

const accountOf = ({ format, baseUrl, headers, query }: ChannelFormat, key = ''): string =>
  createHash('sha256')
    .update(JSON.stringify([format, baseUrl, headers, query, key]))
    .digest('base64url')

import { Budget } from '../../canonical/budget.ts'
import type { Part, ToolCallPart } from '../../canonical/content.ts'
import type { Json } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import { isSigned } from '../../canonical/signature.ts'
import { WRITERS } from '../../egress/index.ts'
import type { Target } from '../../upstreams/router.ts'
import { idKey, isNumberedId, positionKey } from './call-keys.ts'
import { FullDigest, GistDigest } from './conversation-digest.ts'
import { issuerOf } from './issuer.ts'
import type { MemoryStore } from './memory-store.ts'
import { type Changes, changedMessage, type Recalled, recalledBy } from './recalled.ts'
import { type AdaptReasoning, type Position, Turn } from './turn.ts'
import type { AnswerReasoning, KnownCall } from './types.ts'

/**
 * Restores remembered reasoning that the caller no longer has, in front of the tool calls that it led to, as far as the
 * target accepts it. Returns undefined if there is nothing to restore. A turn that already has a signature stays
 * unchanged. The restored reasoning depends only on earlier messages, never on later ones (law 21).
 */
export function recall(
  request: CanonicalRequest,
  target: Target,
  store: MemoryStore,
  owner: string,
): Recalled | undefined {
  const { format, native } = target
  const { reasoningForHistory, boundSignatures } = WRITERS[format.format]!
  if (reasoningForHistory === undefined || !request.messages.some(hasCall)) return undefined
  const issuer = issuerOf(target)
  return new Recall(request, {
    isBound: boundSignatures?.({ dialect: format.dialect, native }) === true,
    byPosition: store.holdsPositionKeys(owner),
    find: key => store.find(owner, key),
    adapterFor: ({ format: issuerFormat, issuer: issuerOfAnswer }) => {
      const options = { dialect: format.dialect, native, toIssuer: issuerOfAnswer === issuer }
      return issuerFormat === format.format ? part => reasoningForHistory(part, options) : undefined
    },
  }).done()
}

const hasCall = ({ role, content }: Message): boolean => role === 'assistant' && content.some(isCall)
const isCall = (part: Part): part is ToolCallPart => part.type === 'tool-call'

interface RecallOptions {
  /** True if signatures are valid only if nothing before them changed. */
  readonly isBound: boolean
  /** True if some calls may be known only by position. */
  readonly byPosition: boolean
  find(key: string): KnownCall | undefined
  /** Returns a function that adapts this reasoning to the target, or undefined if the target does not accept it. */
  adapterFor(reasoning: AnswerReasoning): AdaptReasoning | undefined
}

class Recall {
  private readonly request: CanonicalRequest
  private readonly options: RecallOptions
  /** The messages, with the reasoning restored so far. */
  private readonly messages: Message[]
  private readonly changes = new Map<number, Changes>()
  private readonly gist = new GistDigest()
  private readonly gistPosition = { message: 0, index: 0 }
  private fullDigest: FullDigest | undefined
  private digestedCount = 0
  /** Answers whose reasoning was restored in an earlier turn. */
  private readonly restoredAnswers = new Set<AnswerReasoning>()
  /** Budget for restoring the reasoning of these answers again. */
  private readonly repeatBudget = new Budget()

  constructor(request: CanonicalRequest, options: RecallOptions) {
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

  /** Restores the reasoning of one assistant turn: the messages from `first` up to, but not including, `end`. */
  private turn(first: number, end: number): void {
    const messages = this.request.messages.slice(first, end)
    if (messages.some(({ content }) => content.some(isSigned))) return
    const knownCalls = this.knownCallsIn(first, end)
    if (knownCalls.size === 0) return
    const positions = messages.flatMap(({ content }, at) =>
      content.map((part, index): Position => ({ part, message: first + at, index })),
    )
    const turn = new Turn(positions, this.options.isBound)
    let from = 0
    for (const [at, { part }] of positions.entries()) {
      if (!isCall(part)) continue
      const found = knownCalls.get(part)
      if (found !== undefined && this.isUnchanged(found, first) && this.isAffordable(found))
        turn.restore(found, { from, at, adapt: this.options.adapterFor(found.reasoning) })
      from = at + 1
    }
    for (const { reasoning } of knownCalls.values()) this.restoredAnswers.add(reasoning)
    for (const [message, changes] of turn.changes()) {
      this.changes.set(message, changes)
      this.messages[message] = changedMessage(this.messages[message]!, changes)
    }
  }

  /** Returns the known tool calls of a turn. */
  private knownCallsIn(first: number, end: number): ReadonlyMap<ToolCallPart, KnownCall> {
    const knownCalls = new Map<ToolCallPart, KnownCall>()
    for (let message = first; message < end; message++)
      for (const [index, part] of this.request.messages[message]!.content.entries()) {
        const found = isCall(part) ? this.find(part, message, index) : undefined
        if (found !== undefined) knownCalls.set(part as ToolCallPart, found)
      }
    return knownCalls
  }

  private find(call: ToolCallPart, message: number, index: number): KnownCall | undefined {
    const known = isNumberedId(call.id, call.name) ? undefined : this.options.find(idKey(call.id))
    if (known !== undefined || !this.options.byPosition) return known
    return this.options.find(positionKey(this.gistUpTo(message, index)))
  }

  /** Returns the digest of the conversation up to and including this call. */
  private gistUpTo(message: number, index: number): string {
    const { gistPosition: read } = this
    for (; read.message < message; read.message++, read.index = 0) this.readTo(Number.POSITIVE_INFINITY)
    this.readTo(index + 1)
    return this.gist.digest
  }

  private readTo(end: number): void {
    const { gistPosition: read } = this
    const { role, content } = this.request.messages[read.message]!
    for (; read.index < Math.min(end, content.length); read.index++) this.gist.part(role, content[read.index]!)
  }

  /**
   * Limits repetition. An answer is normally a single turn, so reasoning whose calls recur in many turns is restored
   * only within a budget.
   */
  private isAffordable({ reasoning }: KnownCall): boolean {
    return !this.restoredAnswers.has(reasoning) || this.repeatBudget.spend(reasoning.steps as unknown as Json)
  }

  /** Returns true if everything that a signature covers is unchanged. */
  private isUnchanged({ reasoning: { prefix } }: KnownCall, first: number): boolean {
    if (!this.options.isBound || prefix === undefined) return true
    this.fullDigest ??= new FullDigest(this.request)
    for (; this.digestedCount < first; this.digestedCount++) this.fullDigest.message(this.messages[this.digestedCount]!)
    return this.fullDigest.digest === prefix
  }
}

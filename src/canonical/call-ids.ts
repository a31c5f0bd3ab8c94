import { getOrAdd } from './maps.ts'
import { type Format, type JsonObject, wireSourceOf } from './node.ts'
import type { CanonicalRequest } from './request.ts'

interface Call {
  readonly id: string
  readonly name: string
  isAnswered: boolean
}

/**
 * Assigns ids to the tool calls of a history, for formats that omit ids or reuse one id for several calls (traps 5, 6).
 * Every call gets a unique id that contains its position, and every result is matched to its call. Calls and results
 * are added in reading order, so later turns never change the ids of earlier calls. Each addition takes constant time,
 * and a history without calls costs nothing.
 */
export class CallIds {
  private readonly before: CanonicalRequest | undefined
  private ownHistory: History | undefined
  /** Name of the latest call of each id. */
  private readonly names = new Map<string, string>()

  /** @param before the request whose ids are already taken. */
  constructor(before?: CanonicalRequest) {
    this.before = before
  }

  /** Creates ids for the calls of an answer, distinct from all ids in the history of its request. */
  static after(request: CanonicalRequest): CallIds {
    return new CallIds(request)
  }

  private get history(): History {
    this.ownHistory ??= new History(this.before === undefined ? NO_IDS : knownIdsOf(this.before))
    return this.ownHistory
  }

  /**
   * Returns the id of the next call.
   *
   * @param wireId the id on the wire, if there is one.
   * @param historyId the id of the call in the history, by which `nameOf` finds it. By default the returned id.
   */
  call(wireId: string | undefined, name: string, historyId?: string): string {
    const id = this.history.call(wireId, name)
    this.names.set(historyId ?? id, name)
    return id
  }

  /**
   * Returns the id of the call that the next result answers. A result with a wire id gets the id of that call, or keeps
   * its own id if no call has it. A result without an id is matched by tool name, or by order if it has no name either.
   * If no call matches, the result gets a new id, which `pairedByOrder` may replace.
   */
  result(wireId: string | undefined, name: string | undefined): string {
    return this.history.result(wireId, name)
  }

  /** Returns the name of the latest call with this id in the history. */
  nameOf(id: string): string | undefined {
    return this.names.get(id)
  }

  /**
   * Maps the new ids of unmatched results to the ids of the calls they answer. Returns undefined if there are none.
   * Clients that rename tools do not change the order of calls and results (trap 111), so a round is paired by order if
   * it has as many unmatched results as unanswered calls.
   */
  pairedByOrder(): ReadonlyMap<string, string> | undefined {
    return this.ownHistory?.pairedByOrder()
  }
}

/** The calls and results of a `CallIds`, from the first one on. */
class History {
  private readonly before: KnownIds
  private readonly byId = new Map<string, Call>()
  /** Calls without a result, in order and by tool name. */
  private readonly open = new OpenCalls()
  private readonly openByWireId = new Map<string, CallQueue>()
  private round = new Round()
  /** Generated ids of results that match no call. */
  private readonly generatedIds = new Set<string>()
  private pairedIds: Map<string, string> | undefined
  /** The lowest number, by tool name, from which a generated id may still be free. */
  private readonly nextFreeNumber = new Map<string, number>()
  private count: number

  /** @param before the ids already in use, and the number of earlier calls. */
  constructor(before: KnownIds) {
    this.before = before
    this.count = before.count
  }

  call(wireId: string | undefined, name: string): string {
    const id = wireId === undefined || wireId === '' || this.isTaken(wireId) ? this.generate(name) : wireId
    const call: Call = { id, name, isAnswered: false }
    if (this.round.hasResults) this.nextRound()
    this.count++
    this.byId.set(id, call)
    this.open.add(call)
    this.round.open.add(call)
    if (wireId !== undefined && wireId !== '') queueOf(wireId, this.openByWireId).add(call)
    return id
  }

  result(wireId: string | undefined, name: string | undefined): string {
    this.round.hasResults = true
    if (wireId !== undefined && wireId !== '')
      return markAnswered(this.openByWireId.get(wireId)?.first ?? this.byId.get(wireId)) ?? wireId
    return markAnswered(this.round.open.first(name) ?? this.open.first(name)) ?? this.unmatched(name ?? '')
  }

  pairedByOrder(): ReadonlyMap<string, string> | undefined {
    this.nextRound()
    return this.pairedIds
  }

  private unmatched(name: string): string {
    const id = this.generate(name)
    this.generatedIds.add(id)
    this.round.unmatched.push(id)
    return id
  }

  private nextRound(): void {
    const { open, unmatched } = this.round
    this.round = new Round()
    if (unmatched.length === 0) return
    const calls = open.unanswered()
    if (calls.length !== unmatched.length) return
    this.pairedIds ??= new Map()
    for (const [index, call] of calls.entries()) {
      call.isAnswered = true
      this.pairedIds.set(unmatched[index]!, call.id)
    }
  }

  private isTaken(id: string): boolean {
    return this.byId.has(id) || this.before.ids.has(id) || this.generatedIds.has(id)
  }

  private generate(name: string): string {
    for (let number = Math.max(this.count, this.nextFreeNumber.get(name) ?? 0); ; number++) {
      const id = `call_${number}_${name}`.slice(0, MAX_ID_LENGTH).toWellFormed()
      if (this.isTaken(id)) continue
      this.nextFreeNumber.set(name, number)
      return id
    }
  }
}

/** Maximum length of a generated id, in characters: the most that OpenAI accepts in Chat Completions. */
const MAX_ID_LENGTH = 40

/** Queues of calls without a result: one for all calls, and one per tool name. */
class OpenCalls {
  private readonly all = new CallQueue()
  private readonly byName = new Map<string, CallQueue>()

  add(call: Call): void {
    this.all.add(call)
    queueOf(call.name, this.byName).add(call)
  }

  /** Returns the first call with this name, or the first call overall if no name is given. */
  first(name: string | undefined): Call | undefined {
    const firstByName = name === undefined ? undefined : this.byName.get(name)?.first
    return firstByName ?? (name === undefined || name === '' ? this.all.first : undefined)
  }

  unanswered(): readonly Call[] {
    return this.all.unanswered()
  }
}

/** One round: the model's calls and the results that follow, up to its next call. */
class Round {
  readonly open = new OpenCalls()
  /** Generated ids of results that match no call. */
  readonly unmatched: string[] = []
  hasResults = false
}

/** A queue of calls in order. The index skips the answered calls at the front. */
class CallQueue {
  private readonly calls: Call[] = []
  private at = 0

  get first(): Call | undefined {
    while (this.calls[this.at]?.isAnswered) this.at++
    return this.calls[this.at]
  }

  add(call: Call): void {
    this.calls.push(call)
  }

  unanswered(): readonly Call[] {
    return this.calls.filter(({ isAnswered: answered }) => !answered)
  }
}

const queueOf = (key: string, queues: Map<string, CallQueue>): CallQueue => getOrAdd(queues, key, () => new CallQueue())

function markAnswered(call: Call | undefined): string | undefined {
  if (call !== undefined) call.isAnswered = true
  return call?.id
}

/** The ids of all calls in a history, and the number of calls. */
interface KnownIds {
  readonly ids: ReadonlySet<string>
  /** Ids that were made legal for the caller, without the hash that they then end with. */
  readonly legalForms: ReadonlySet<string>
  readonly count: number
}

const NO_IDS: KnownIds = { ids: new Set(), legalForms: new Set(), count: 0 }

const HASHED_ID = /^(.+)_[0-9a-f]{8}$/
export const ILLEGAL_CHARACTERS = /[^a-zA-Z0-9_-]/g

/** Cache of each request's ids, computed once for all its answers. */
const idsByRequest = new WeakMap<CanonicalRequest, KnownIds>()

function knownIdsOf(request: CanonicalRequest): KnownIds {
  const found = idsByRequest.get(request)
  if (found !== undefined) return found
  const ids = new Set<string>()
  const legalForms = new Set<string>()
  let count = 0
  for (const { content } of request.messages)
    for (const part of content)
      if (part.type === 'tool-call') {
        ids.add(part.id)
        const [, legalForm] = HASHED_ID.exec(part.id) ?? []
        if (legalForm !== undefined) legalForms.add(legalForm)
        count++
      }
  const knownIds = { ids, legalForms, count }
  idsByRequest.set(request, knownIds)
  return knownIds
}

/**
 * Matches an id that ends with the number of its call in the conversation, as in `functions.get_time:0`. Models that
 * write such ids expect them in this form.
 */
const COUNTING_ID = /^(.{1,80}:)\d{1,6}$/

/**
 * Assigns ids to the calls of an answer: the upstream's id, or a generated id if the upstream's is missing or already
 * used in this answer (trap 6). For callers of other formats than the upstream's, an id of the history counts as used,
 * too: some servers number the calls of each answer from zero, and some clients match a call to its result by id alone.
 */
export class AnswerIds {
  /** Ids in use. Created at the first call, because most answers have no calls. */
  private usedIds: Set<string> | undefined
  private readonly request: CanonicalRequest
  /** True if the caller's format is the upstream's. */
  private readonly isNative: boolean
  private generator: CallIds | undefined

  /** @param format the format of the answer, whose own callers get its ids as they are. */
  constructor(request: CanonicalRequest, format?: Format) {
    this.request = request
    this.isNative = format !== undefined && wireSourceOf(request, format) !== undefined
  }

  call(wireId: string | undefined, name: string): string {
    const used = (this.usedIds ??= new Set())
    const id =
      wireId !== undefined && wireId !== '' && !this.isTaken(wireId) ? wireId : this.generate(wireId, name, used)
    used.add(id)
    return id
  }

  /** Returns a call of an answer with the id that it gets, or the same object if its own id stays. */
  withId(call: JsonObject, field: string, name: string): JsonObject {
    const wireId = call[field]
    const id = this.call(typeof wireId === 'string' ? wireId : undefined, name)
    return id === wireId ? call : { ...call, [field]: id }
  }

  private isTaken(id: string): boolean {
    const { ids, legalForms } = this.isNative ? NO_IDS : knownIdsOf(this.request)
    if (this.usedIds?.has(id) === true || ids.has(id)) return true
    return (
      legalForms.size > 0 && id.search(ILLEGAL_CHARACTERS) >= 0 && legalForms.has(id.replace(ILLEGAL_CHARACTERS, '_'))
    )
  }

  private generate(wireId: string | undefined, name: string, used: ReadonlySet<string>): string {
    const [, prefix] = COUNTING_ID.exec(wireId ?? '') ?? []
    for (let number = knownIdsOf(this.request).count + used.size; prefix !== undefined; number++)
      if (!this.isTaken(`${prefix}${number}`)) return `${prefix}${number}`
    this.generator ??= CallIds.after(this.request)
    for (;;) {
      const id = this.generator.call(undefined, name)
      if (!used.has(id)) return id
    }
  }
}

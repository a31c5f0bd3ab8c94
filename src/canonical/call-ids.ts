import type { CanonicalRequest } from './request.ts'

interface Call {
  readonly id: string
  readonly name: string
  answered: boolean
}

/**
 * Ids of the calls of one history, for formats that leave them out or use one for several calls (traps 5, 6): every
 * call gets a unique id made of its position, and every result is matched with the call it answers. Calls and results
 * are added in reading order; later turns never change the ids of earlier ones. Each call and result takes constant
 * time.
 */
export class CallIds {
  private readonly before: KnownIds
  private readonly byId = new Map<string, Call>()
  /** Calls without a result: those by tool name, and those by the id on the wire. */
  private readonly open = new OpenCalls()
  private readonly openByWireId = new Map<string, CallQueue>()
  private round = new Round()
  /** The ids made for results that match no call. */
  private readonly made = new Set<string>()
  private paired: Map<string, string> | undefined
  /** By name, the lowest number from which a generated id may still be free. */
  private readonly free = new Map<string, number>()
  private count: number

  /** @param before ids that are taken already, and the number of earlier calls. */
  constructor(before: KnownIds = NONE) {
    this.before = before
    this.count = before.count
  }

  /** Ids for the calls of an answer: distinct from all ids of its request's history. */
  static after(request: CanonicalRequest): CallIds {
    return new CallIds(knownIn(request))
  }

  /** The id of the next call, whose id on the wire is `wireId`. */
  call(wireId: string | undefined, name: string): string {
    const id = wireId === undefined || wireId === '' || this.isTaken(wireId) ? this.generate(name) : wireId
    const call: Call = { id, name, answered: false }
    if (this.round.hasResults) this.nextRound()
    this.count++
    this.byId.set(id, call)
    this.open.add(call)
    this.round.open.add(call)
    if (wireId !== undefined && wireId !== '') queueOf(wireId, this.openByWireId).add(call)
    return id
  }

  /**
   * The id of the call that the next result answers: found by the id on the wire, else by name, else by order. A result
   * with neither id nor known name gets an id of its own, which `pairedByOrder` may replace.
   */
  result(wireId: string | undefined, name: string | undefined): string {
    this.round.hasResults = true
    if (wireId !== undefined && wireId !== '')
      return answered(this.openByWireId.get(wireId)?.first ?? this.byId.get(wireId)) ?? wireId
    return answered(this.round.open.first(name) ?? this.open.first(name)) ?? this.unmatched(name ?? '')
  }

  /** The name of the call with this id. */
  nameOf(id: string): string | undefined {
    return this.byId.get(id)?.name
  }

  /**
   * The ids of results with unknown names, and those of the calls they answer: clients that rename tools keep the order
   * (trap 111). Undefined where there are none. Only a round with as many such results as unanswered calls is paired.
   */
  pairedByOrder(): ReadonlyMap<string, string> | undefined {
    this.nextRound()
    return this.paired
  }

  private unmatched(name: string): string {
    const id = this.generate(name)
    this.made.add(id)
    this.round.unmatched.push(id)
    return id
  }

  private nextRound(): void {
    const { open, unmatched } = this.round
    this.round = new Round()
    if (unmatched.length === 0) return
    const calls = open.unanswered()
    if (calls.length !== unmatched.length) return
    this.paired ??= new Map()
    for (const [index, call] of calls.entries()) {
      call.answered = true
      this.paired.set(unmatched[index]!, call.id)
    }
  }

  private isTaken(id: string): boolean {
    return this.byId.has(id) || this.before.ids.has(id) || this.made.has(id)
  }

  private generate(name: string): string {
    for (let number = Math.max(this.count, this.free.get(name) ?? 0); ; number++) {
      const id = `call_${number}_${name}`
      if (this.isTaken(id)) continue
      this.free.set(name, number)
      return id
    }
  }
}

/** Calls without a result, in order. */
class OpenCalls {
  private readonly all = new CallQueue()
  private readonly byName = new Map<string, CallQueue>()

  add(call: Call): void {
    this.all.add(call)
    queueOf(call.name, this.byName).add(call)
  }

  /** The first call of this name; of any name where none is given. */
  first(name: string | undefined): Call | undefined {
    const named = name === undefined ? undefined : this.byName.get(name)?.first
    return named ?? (name === undefined || name === '' ? this.all.first : undefined)
  }

  unanswered(): readonly Call[] {
    return this.all.unanswered()
  }
}

/** Calls of the model and the results that follow them, up to its next call. */
class Round {
  readonly open = new OpenCalls()
  /** The ids made for results that match no call. */
  readonly unmatched: string[] = []
  hasResults = false
}

/** Calls in order; the index moves past the answered ones at the beginning. */
class CallQueue {
  private readonly calls: Call[] = []
  private at = 0

  get first(): Call | undefined {
    while (this.calls[this.at]?.answered) this.at++
    return this.calls[this.at]
  }

  add(call: Call): void {
    this.calls.push(call)
  }

  unanswered(): readonly Call[] {
    return this.calls.filter(({ answered }) => !answered)
  }
}

const queueOf = (key: string, queues: Map<string, CallQueue>): CallQueue =>
  queues.getOrInsertComputed(key, () => new CallQueue())

function answered(call: Call | undefined): string | undefined {
  if (call !== undefined) call.answered = true
  return call?.id
}

/** The ids of calls, and the number of calls. */
interface KnownIds {
  readonly ids: ReadonlySet<string>
  readonly count: number
}

const NONE: KnownIds = { ids: new Set(), count: 0 }

/** Computed once per request, however many answers it has. */
const knownByRequest = new WeakMap<CanonicalRequest, KnownIds>()

function knownIn(request: CanonicalRequest): KnownIds {
  const found = knownByRequest.get(request)
  if (found !== undefined) return found
  const ids = new Set<string>()
  let count = 0
  for (const { content } of request.messages)
    for (const part of content)
      if (part.type === 'tool-call') {
        ids.add(part.id)
        count++
      }
  const all = { ids, count }
  knownByRequest.set(request, all)
  return all
}

/**
 * Ids of an answer's calls: the upstream's own, or a generated one where an id is missing or used for several calls
 * (trap 6).
 */
export class AnswerIds {
  /** Created at the first call: most answers have none. */
  private used: Set<string> | undefined
  private readonly request: CanonicalRequest
  private generator: CallIds | undefined

  constructor(request: CanonicalRequest) {
    this.request = request
  }

  call(wireId: string | undefined, name: string): string {
    const used = (this.used ??= new Set())
    const id = wireId !== undefined && wireId !== '' && !used.has(wireId) ? wireId : this.generate(name, used)
    used.add(id)
    return id
  }

  private generate(name: string, used: ReadonlySet<string>): string {
    this.generator ??= CallIds.after(this.request)
    for (;;) {
      const id = this.generator.call(undefined, name)
      if (!used.has(id)) return id
    }
  }
}

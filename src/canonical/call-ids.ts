import type { CanonicalRequest } from './request.ts'

interface Call {
  readonly id: string
  readonly name: string
  answered: boolean
}

/**
 * Ids of the calls of one history, for formats that leave them out or use one for several calls (traps 5, 6): every
 * call gets an id of its own, made of its place, and every result finds the call it answers. Fed in reading order;
 * adding turns never changes the ids given before. However many calls there are, the next one takes no longer.
 */
export class CallIds {
  private readonly before: Known
  private readonly byId = new Map<string, Call>()
  /** Calls without a result: all of them, those of a name, and those of which the format says an id. */
  private readonly open = new Line()
  private readonly openByName = new Map<string, Line>()
  private readonly openBySaid = new Map<string, Line>()
  /** Of each name, the first number of which it is not known that an id made of it is taken. */
  private readonly free = new Map<string, number>()
  private count: number

  /** Ids that are taken already, and how many calls came before. */
  constructor(before: Known = NONE) {
    this.before = before
    this.count = before.count
  }

  /** Ids for the calls of an answer: none that its history has already. */
  static after(request: CanonicalRequest): CallIds {
    return new CallIds(knownIn(request))
  }

  /** The id of the next call, of which the format says `said`. */
  call(said: string | undefined, name: string): string {
    const id = said === undefined || said === '' || this.isTaken(said) ? this.mint(name) : said
    const call: Call = { id, name, answered: false }
    this.count++
    this.byId.set(id, call)
    this.open.add(call)
    lineOf(name, this.openByName).add(call)
    if (said !== undefined && said !== '') lineOf(said, this.openBySaid).add(call)
    return id
  }

  /** The id of the call that the next result answers: by the id said, else by name, else in order. */
  result(said: string | undefined, name: string | undefined): string {
    if (said === undefined || said === '') return answered(this.firstOpen(name)) ?? this.mint(name ?? '')
    return answered(this.openBySaid.get(said)?.first ?? this.byId.get(said)) ?? said
  }

  /** The name of the call with this id. */
  nameOf(id: string): string | undefined {
    return this.byId.get(id)?.name
  }

  private firstOpen(name: string | undefined): Call | undefined {
    const named = name === undefined ? undefined : this.openByName.get(name)?.first
    return named ?? (name === undefined || name === '' ? this.open.first : undefined)
  }

  private isTaken(id: string): boolean {
    return this.byId.has(id) || this.before.ids.has(id)
  }

  private mint(name: string): string {
    for (let number = Math.max(this.count, this.free.get(name) ?? 0); ; number++) {
      const id = `call_${number}_${name}`
      if (this.isTaken(id)) continue
      this.free.set(name, number)
      return id
    }
  }
}

/** Calls in order, the answered ones at its beginning left behind. */
class Line {
  private readonly calls: Call[] = []
  private at = 0

  get first(): Call | undefined {
    while (this.calls[this.at]?.answered) this.at++
    return this.calls[this.at]
  }

  add(call: Call): void {
    this.calls.push(call)
  }
}

function lineOf(key: string, lines: Map<string, Line>): Line {
  let line = lines.get(key)
  if (line === undefined) lines.set(key, (line = new Line()))
  return line
}

function answered(call: Call | undefined): string | undefined {
  if (call !== undefined) call.answered = true
  return call?.id
}

/** The ids of calls, and how many calls there are. */
interface Known {
  readonly ids: ReadonlySet<string>
  readonly count: number
}

const NONE: Known = { ids: new Set(), count: 0 }

/** Looked for once, however many answers there are to one request. */
const known = new WeakMap<CanonicalRequest, Known>()

function knownIn(request: CanonicalRequest): Known {
  const found = known.get(request)
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
  known.set(request, all)
  return all
}

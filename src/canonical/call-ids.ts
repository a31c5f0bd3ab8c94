import type { CanonicalRequest } from './request.ts'

interface Call {
  readonly id: string
  readonly said: string | undefined
  readonly name: string
  answered: boolean
}

/**
 * Ids of the calls of one history, for formats that leave them out or use one for several calls (traps 5, 6): every
 * call gets an id of its own, made of its place, and every result finds the call it answers. Fed in reading order;
 * adding turns never changes the ids given before.
 */
export class CallIds {
  private readonly calls: Call[] = []
  private readonly used = new Set<string>()
  private minted = 0

  /** Ids that are taken already, and how many calls came before. */
  constructor(before: Iterable<string> = []) {
    for (const id of before) {
      this.used.add(id)
      this.minted++
    }
  }

  /** Ids for the calls of an answer: none that its history has already. */
  static after({ messages }: CanonicalRequest): CallIds {
    const before: string[] = []
    for (const { content } of messages) for (const part of content) if (part.type === 'tool-call') before.push(part.id)
    return new CallIds(before)
  }

  /** The id of the next call, of which the format says `said`. */
  call(said: string | undefined, name: string): string {
    const id = said === undefined || said === '' || this.used.has(said) ? this.mint(name) : said
    this.minted++
    this.used.add(id)
    this.calls.push({ id, said, name, answered: false })
    return id
  }

  /** The id of the call that the next result answers: by the id said, else by name, else in order. */
  result(said: string | undefined, name: string | undefined): string {
    const call = said === undefined || said === '' ? this.firstOpen(name) : this.byId(said)
    if (call === undefined) return said === undefined || said === '' ? this.mint(name ?? '') : said
    call.answered = true
    return call.id
  }

  /** The name of the call with this id. */
  nameOf(id: string): string | undefined {
    return this.calls.findLast(call => call.id === id)?.name
  }

  private firstOpen(name: string | undefined): Call | undefined {
    const open = this.calls.filter(call => !call.answered)
    return open.find(call => call.name === name) ?? (name === undefined || name === '' ? open[0] : undefined)
  }

  private byId(said: string): Call | undefined {
    return (
      this.calls.find(call => call.said === said && !call.answered) ?? this.calls.findLast(call => call.id === said)
    )
  }

  private mint(name: string): string {
    for (let count = this.minted; ; count++) {
      const id = `call_${count}_${name}`
      if (!this.used.has(id)) return id
    }
  }
}

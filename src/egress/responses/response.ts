import type { CanonicalError } from '../../canonical/error.ts'
import { flatCopy, flatJoin } from '../../canonical/flat.ts'
import { isObject, type JsonObject, type Node } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import { defined, kept, spelt } from '../fields.ts'
import { completed, completedInside, lacks, NO_TOKENS } from './complete.ts'
import { FORMAT } from './content.ts'
import { isCompactDoor } from './door.ts'
import { DEFAULTS, echoOf } from './echo.ts'
import { failureOf } from './error.ts'
import type { State } from './status.ts'

/** What is known of an answer as a whole. */
export type Head = Node & Pick<CanonicalResult, 'id' | 'model' | 'createdAt' | 'serviceTier' | 'complete'>

/** What an answer has come to. */
export interface Stand {
  readonly state: State
  readonly output: readonly JsonObject[]
  readonly usage?: JsonObject | undefined
  readonly error?: CanonicalError | undefined
  /** Late facts: they take the place of the earlier ones. */
  readonly late?: Pick<Head, 'serviceTier' | 'extras' | 'spelling'> | undefined
}

const PREFIX = 'resp_'

/** The id of an answer: those of other formats get the beginning clients look for. */
export const answerId = (id: string | undefined): string =>
  id === undefined ? `${PREFIX}0` : id.startsWith(PREFIX) ? id : flatJoin(PREFIX, id)

/** A response object before anything is known of it: to fill it in is much cheaper than to put one together. */
const BLANK: JsonObject = { id: '', object: 'response', created_at: 0, model: '', ...DEFAULTS }

/** What every response has, and whether it may be null. */
const ALWAYS: JsonObject = {
  ...BLANK,
  ...{ status: '', output: [], service_tier: '', tools: [], text: {} },
  ...{ incomplete_details: null, error: null, usage: null, reasoning: null },
}
const ALL = Object.keys(ALWAYS)
const NONE: JsonObject = {}

/** Clients may send ids back, and none may be longer than 64 characters. */
const LONGEST = 44

const baseOf = (id: string): string => flatCopy(id.slice(id.startsWith(PREFIX) ? PREFIX.length : 0).slice(-LONGEST))

const echoIn = (node: Node): JsonObject | undefined => spelt(node, FORMAT)['echo'] as JsonObject | undefined

/** Whether the answer comes from an upstream of this very format. */
export const isOwnAnswer = (head: Node): boolean => echoIn(head) !== undefined

/** Writes the response object of one answer, as often as a stream shows it. */
export class Responder {
  /** The upstream speaks this format too: its answer is repeated as it came. */
  readonly own: boolean
  /** What that upstream left out is added. */
  readonly completes: boolean
  readonly id: string
  /** What the ids of items are made of. */
  readonly base: string
  private readonly head: Head
  private readonly request: CanonicalRequest
  private fixed: JsonObject | undefined

  constructor(head: Head, request: CanonicalRequest) {
    this.head = head
    this.request = request
    this.own = isOwnAnswer(head)
    this.completes = this.own && head.complete === true
    const { anonymous } = spelt(head, FORMAT)
    this.id = this.own && !(this.completes && anonymous) ? (head.id ?? '') : answerId(head.id)
    this.base = baseOf(this.id)
  }

  /** The tier where no upstream names one. */
  get tier(): string {
    return this.request.serviceTier ?? 'default'
  }

  body(stand: Stand): JsonObject {
    if (!this.own) return this.foreignBody(stand)
    const said = this.ownBody(stand)
    if (!this.completes) return said
    const untimed = said['status'] === 'completed' && said['completed_at'] == null
    return this.filled(untimed ? { ...said, ...this.completion(stand) } : said, stand.state)
  }

  /** When the answer was whole, which only a complete one ever was. */
  private completion({ state, late }: Pick<Stand, 'state' | 'late'>): JsonObject {
    if (state.status !== 'completed') return NONE
    return { completed_at: spelt(late ?? this.head, FORMAT)['completedAt'] ?? null }
  }

  /** What is the same however often the response is shown. */
  private get blank(): JsonObject {
    return (this.fixed ??= {
      ...BLANK,
      id: this.id,
      created_at: this.head.createdAt ?? 0,
      model: this.head.model ?? this.request.model,
      ...echoOf(this.request),
    })
  }

  private foreignBody({ state, output, usage, error, late }: Stand): JsonObject {
    return {
      ...this.blank,
      ...state,
      ...this.completion({ state, late }),
      error: error === undefined ? null : failureOf(error),
      output,
      usage: usage ?? null,
      service_tier: late?.serviceTier ?? this.head.serviceTier ?? this.tier,
      ...kept(this.head, FORMAT),
      ...(late === undefined ? {} : kept(late, FORMAT)),
    }
  }

  private ownBody({ state, output, usage, error, late }: Stand): JsonObject {
    const node = late !== undefined && echoIn(late) !== undefined ? late : this.head
    const echo = echoIn(node)!
    const { createdAt } = this.head
    const id = this.completes ? this.id : this.head.id
    const nameless = spelt(this.head, FORMAT)['nameless'] !== undefined && this.compacts(echo)
    const model = nameless ? undefined : this.head.model
    const said = isObject(echo['error']) ? { ...echo['error'], message: error?.message ?? '' } : undefined
    const counted = defined({ usage }) as JsonObject
    return {
      ...(defined({
        id,
        model,
        created_at: createdAt,
        service_tier: late?.serviceTier ?? this.head.serviceTier,
      }) as JsonObject),
      ...echo,
      output,
      ...counted,
      ...kept(node, FORMAT),
      // A beginning says that nothing is counted yet.
      ...counted,
      ...(error === undefined ? {} : { status: state.status, error: said ?? failureOf(error) }),
    }
  }

  /** The answer with what its upstream left out. */
  filled(said: JsonObject, state: State): JsonObject {
    if (this.compacts(said)) return completedInside(completed(said, this.compaction))
    const lacking = ALL.filter(field => lacks(said, field, ALWAYS[field]!))
    if (lacking.length === 0) return completedInside(said)
    const all: JsonObject = { ...this.blank, ...state, error: null, usage: null, output: [], service_tier: this.tier }
    return completedInside({ ...said, ...Object.fromEntries(lacking.map(field => [field, all[field]!])) })
  }

  private compacts({ object }: JsonObject): boolean {
    return object === 'response.compaction' || (object == null && isCompactDoor(this.request))
  }

  private get compaction(): JsonObject {
    const { id } = this
    return { id, object: 'response.compaction', created_at: this.head.createdAt ?? 0, usage: NO_TOKENS }
  }
}

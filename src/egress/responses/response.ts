import type { CanonicalError } from '../../canonical/error.ts'
import { flatCopy, flatJoin } from '../../canonical/flat.ts'
import { isObject, type JsonObject, type Node } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import { defined, kept, spelt } from '../fields.ts'
import { completed, completedInside, lacks, NO_TOKENS } from './complete.ts'
import { FORMAT } from './content.ts'
import { DEFAULTS, settingsEcho } from './echo.ts'
import { isCompactEndpoint } from './endpoint.ts'
import { failureOf } from './error.ts'
import type { ResponseState } from './status.ts'

/** The fields of an answer as a whole. */
export type ResponseHead = Node & Pick<CanonicalResult, 'id' | 'model' | 'createdAt' | 'serviceTier' | 'complete'>

/** The current contents of an answer. */
export interface ResponseContent {
  readonly state: ResponseState
  readonly output: readonly JsonObject[]
  readonly usage?: JsonObject | undefined
  readonly error?: CanonicalError | undefined
  /** Late fields, which replace the earlier ones. */
  readonly late?: Pick<ResponseHead, 'serviceTier' | 'extras' | 'spelling'> | undefined
}

const PREFIX = 'resp_'

/** The id of an answer: ids of other formats get the prefix that clients expect. */
export const answerId = (id: string | undefined): string =>
  id === undefined ? `${PREFIX}0` : id.startsWith(PREFIX) ? id : flatJoin(PREFIX, id)

/** An empty response object: filling it in is much cheaper than building one. */
const BLANK: JsonObject = { id: '', object: 'response', created_at: 0, model: '', ...DEFAULTS }

/** The fields of every response; null for those that may be null. */
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

/** Whether the answer comes from an upstream of this same format. */
export const isOwnAnswer = (head: Node): boolean => echoIn(head) !== undefined

/** Writes the response object of one answer, each time that a stream contains it. */
export class Responder {
  /** The answer comes from an upstream of this same format and is repeated as it came. */
  readonly own: boolean
  /** Whether fields that this upstream left out are added. */
  readonly completes: boolean
  readonly id: string
  /** The base of the ids of items. */
  readonly base: string
  private readonly head: ResponseHead
  private readonly request: CanonicalRequest
  private fixed: JsonObject | undefined

  constructor(head: ResponseHead, request: CanonicalRequest) {
    this.head = head
    this.request = request
    this.own = isOwnAnswer(head)
    this.completes = this.own && head.complete === true
    const { anonymous } = spelt(head, FORMAT)
    this.id = this.own && !(this.completes && anonymous) ? (head.id ?? '') : answerId(head.id)
    this.base = baseOf(this.id)
  }

  /** The service tier where no upstream reports one. */
  get tier(): string {
    return this.request.serviceTier ?? 'default'
  }

  body(content: ResponseContent): JsonObject {
    if (!this.own) return this.foreignBody(content)
    const response = this.ownBody(content)
    if (!this.completes) return response
    const untimed = response['status'] === 'completed' && response['completed_at'] == null
    return this.filled(untimed ? { ...response, ...this.completion(content) } : response, content.state)
  }

  /** The time of completion, which only a completed answer has. */
  private completion({ state, late }: Pick<ResponseContent, 'state' | 'late'>): JsonObject {
    if (state.status !== 'completed') return NONE
    return { completed_at: spelt(late ?? this.head, FORMAT)['completedAt'] ?? null }
  }

  /** The fields that are the same each time. */
  private get blank(): JsonObject {
    return (this.fixed ??= {
      ...BLANK,
      id: this.id,
      created_at: this.head.createdAt ?? 0,
      model: this.head.model ?? this.request.model,
      ...settingsEcho(this.request),
    })
  }

  private foreignBody({ state, output, usage, error, late }: ResponseContent): JsonObject {
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

  private ownBody({ state, output, usage, error, late }: ResponseContent): JsonObject {
    const node = late !== undefined && echoIn(late) !== undefined ? late : this.head
    const echo = echoIn(node)!
    const { createdAt } = this.head
    const id = this.completes ? this.id : this.head.id
    const nameless = spelt(this.head, FORMAT)['nameless'] !== undefined && this.compacts(echo)
    const model = nameless ? undefined : this.head.model
    const ownError = isObject(echo['error']) ? { ...echo['error'], message: error?.message ?? '' } : undefined
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
      // The initial response has a null usage.
      ...counted,
      ...(error === undefined ? {} : { status: state.status, error: ownError ?? failureOf(error) }),
    }
  }

  /** The answer with the fields that its upstream left out. */
  filled(response: JsonObject, state: ResponseState): JsonObject {
    if (this.compacts(response)) return completedInside(completed(response, this.compaction))
    const lacking = ALL.filter(field => lacks(response, field, ALWAYS[field]!))
    if (lacking.length === 0) return completedInside(response)
    const all: JsonObject = { ...this.blank, ...state, error: null, usage: null, output: [], service_tier: this.tier }
    return completedInside({ ...response, ...Object.fromEntries(lacking.map(field => [field, all[field]!])) })
  }

  private compacts({ object }: JsonObject): boolean {
    return object === 'response.compaction' || (object == null && isCompactEndpoint(this.request))
  }

  private get compaction(): JsonObject {
    const { id } = this
    return { id, object: 'response.compaction', created_at: this.head.createdAt ?? 0, usage: NO_TOKENS }
  }
}

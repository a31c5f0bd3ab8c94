import type { CanonicalError } from '../../canonical/error.ts'
import { isObject, type Json, type JsonObject, type Node, wireSourceOf } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import { flatCopy, flatJoin } from '../../canonical/text.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { defined, extrasFor, spellingFor } from '../fields.ts'
import type { ResponseState } from './answer.ts'
import { FORMAT } from './content.ts'
import { FUNCTION, innerDefaults, lacks, NO_TOKENS, withDefaults } from './defaults.ts'
import { failureOf } from './error.ts'

/** Answer-level fields. */
type ResponseHead = Node & Pick<CanonicalResult, 'id' | 'model' | 'createdAt' | 'serviceTier' | 'complete'>

/** The content of a response at a point in time. */
export interface ResponseContent {
  readonly state: ResponseState
  readonly output: readonly JsonObject[]
  readonly usage?: JsonObject | undefined
  readonly error?: CanonicalError | undefined
  /** Fields that arrived late and replace earlier ones. */
  readonly late?: Pick<ResponseHead, 'serviceTier' | 'extras' | 'spelling'> | undefined
}

const PREFIX = 'resp_'

/** Returns the id of an answer. Ids from other formats get the prefix that clients expect. */
export const answerId = (id: string | undefined): string =>
  id === undefined ? `${PREFIX}0` : id.startsWith(PREFIX) ? id : flatJoin(PREFIX, id)

/** Request settings that every answer repeats, with their public defaults. Strict clients require all of them. */
const DEFAULTS: JsonObject = {
  background: false,
  completed_at: null,
  frequency_penalty: 0,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  presence_penalty: 0,
  previous_response_id: null,
  prompt_cache_key: null,
  safety_identifier: null,
  store: true,
  temperature: 1,
  tool_choice: 'auto',
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  user: null,
}

/** A response object with empty fields. Filling in a copy is much cheaper than building a new object. */
const BLANK: JsonObject = { id: '', object: 'response', created_at: 0, model: '', ...DEFAULTS }

/** Fields of every response, with null where null is allowed. */
const REQUIRED_FIELDS: JsonObject = {
  ...BLANK,
  ...{ status: '', output: [], service_tier: '', tools: [], text: {} },
  ...{ incomplete_details: null, error: null, usage: null, reasoning: null },
}
const REQUIRED_NAMES = Object.keys(REQUIRED_FIELDS)
const NO_FIELDS: JsonObject = {}

/** Fields of the request body that an answer repeats unchanged. */
const REPEATED_FIELDS = [
  ...['instructions', 'max_output_tokens', 'temperature', 'top_p', 'frequency_penalty', 'presence_penalty'],
  ...['max_tool_calls', 'prompt', 'prompt_cache_options', 'prompt_cache_retention', 'top_logprobs', 'user'],
  ...['safety_identifier', 'metadata', 'prompt_cache_key', 'tool_choice', 'parallel_tool_calls'],
] as const

/** Returns the settings that an answer repeats, including tools that input items add. */
function settingsEcho(request: CanonicalRequest): JsonObject {
  const body = wireSourceOf<WireRequest>(request, FORMAT)?.wire.body ?? NO_FIELDS
  const { text, tools } = body as { readonly text?: JsonObject | null; readonly tools?: readonly JsonObject[] | null }
  const repeated: { [field: string]: Json } = {}
  for (const field of REPEATED_FIELDS) if (body[field] != null) repeated[field] = body[field]
  const { store, previous, conversation, background } = request.state ?? {}
  return {
    ...repeated,
    ...(defined({
      store,
      previous_response_id: previous,
      background,
      conversation: conversation === undefined ? undefined : { id: conversation },
      // The gateway may override this field of the body.
      truncation: request.extras?.[FORMAT]?.['truncation'],
    }) as JsonObject),
    tools: [...(tools ?? []), ...addedTools(request)].map(tool =>
      tool['type'] === 'function' ? { ...FUNCTION, ...tool } : tool,
    ),
    text: { ...text, format: text?.['format'] ?? { type: 'text' } },
    reasoning: { effort: null, summary: null, ...(body['reasoning'] as JsonObject | undefined) },
  }
}

/** Returns the tools that input items add, each once. */
function addedTools({ tools }: CanonicalRequest): Iterable<JsonObject> {
  if (tools === undefined) return NO_TOOLS
  const wires = tools.map(tool => wireSourceOf<JsonObject>(tool, FORMAT)?.wire)
  return new Set(wires.filter(wire => wire !== undefined))
}

const NO_TOOLS: readonly JsonObject[] = []

/**
 * Maximum length of the base of generated ids, in characters. Clients may send ids back, and an id may have at most 64
 * characters.
 */
const MAX_BASE_LENGTH = 44

const baseOf = (id: string): string =>
  flatCopy(id.slice(id.startsWith(PREFIX) ? PREFIX.length : 0).slice(-MAX_BASE_LENGTH))

/** Returns the response object that an upstream of this format sent. */
const responseIn = (node: Node): JsonObject | undefined =>
  spellingFor(node, FORMAT)['response'] as JsonObject | undefined

/** Returns true if the answer comes from an upstream of this format. */
export const isNativeAnswer = (head: Node): boolean => responseIn(head) !== undefined

/** Returns true if the caller uses the compaction endpoint, whose answers are not responses. */
export const isCompactEndpoint = (request: CanonicalRequest): boolean =>
  wireSourceOf<WireRequest>(request, FORMAT)?.wire.path.endsWith('/responses/compact') === true

/** Builds the response object for an answer. Streams build it several times. */
export class Responder {
  /** True if the answer comes from an upstream of this format and is passed on as received. */
  readonly isNative: boolean
  /** True if fields that the upstream omitted are added. */
  readonly addsDefaults: boolean
  readonly id: string
  /** Base of generated item ids. */
  readonly base: string
  private readonly head: ResponseHead
  private readonly request: CanonicalRequest
  private fixed: JsonObject | undefined

  constructor(head: ResponseHead, request: CanonicalRequest) {
    this.head = head
    this.request = request
    this.isNative = isNativeAnswer(head)
    this.addsDefaults = this.isNative && head.complete === true
    const lacksId = this.addsDefaults && responseIn(head)!['id'] == null
    this.id = this.isNative && !lacksId ? (head.id ?? '') : answerId(head.id)
    this.base = baseOf(this.id)
  }

  /** Service tier to state if the upstream does not report one. */
  get tier(): string {
    return this.request.serviceTier ?? 'default'
  }

  body(content: ResponseContent): JsonObject {
    if (!this.isNative) return this.foreignBody(content)
    const response = this.nativeBody(content)
    if (!this.addsDefaults) return response
    const lacksCompletionTime = response['status'] === 'completed' && response['completed_at'] == null
    return this.withAllFields(
      lacksCompletionTime ? { ...response, ...this.completion(content) } : response,
      content.state,
    )
  }

  /** Returns the completion time, which only a completed answer has. */
  private completion({ state, late }: Pick<ResponseContent, 'state' | 'late'>): JsonObject {
    if (state.status !== 'completed') return NO_FIELDS
    return { completed_at: spellingFor(late ?? this.head, FORMAT)['completedAt'] ?? null }
  }

  /** Fields that never change during a stream. */
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
      ...extrasFor(this.head, FORMAT),
      ...(late === undefined ? {} : extrasFor(late, FORMAT)),
    }
  }

  private nativeBody({ state, output, usage, error, late }: ResponseContent): JsonObject {
    const { head } = this
    const response = (late && responseIn(late)) ?? responseIn(head)!
    const omitsModel = responseIn(head)!['model'] == null && this.compacts(response)
    const failed = isObject(response['error']) ? { ...response['error'], message: error?.message ?? '' } : undefined
    const statedFields = { created_at: head.createdAt, service_tier: late?.serviceTier ?? head.serviceTier }
    return {
      ...withDefaults(response, defined(statedFields) as JsonObject),
      ...(defined({
        id: this.addsDefaults ? this.id : head.id,
        model: omitsModel ? undefined : head.model,
      }) as JsonObject),
      output,
      ...(defined({ usage }) as JsonObject),
      ...(error === undefined ? {} : { status: state.status, error: failed ?? failureOf(error) }),
    }
  }

  /** Adds fields that the upstream omitted. */
  withAllFields(response: JsonObject, state: ResponseState): JsonObject {
    if (this.compacts(response)) return innerDefaults(withDefaults(response, this.compaction))
    const missingFields = REQUIRED_NAMES.filter(field => lacks(response, field, REQUIRED_FIELDS[field]!))
    if (missingFields.length === 0) return innerDefaults(response)
    const all: JsonObject = { ...this.blank, ...state, error: null, usage: null, output: [], service_tier: this.tier }
    return innerDefaults({ ...response, ...Object.fromEntries(missingFields.map(field => [field, all[field]!])) })
  }

  private compacts({ object }: JsonObject): boolean {
    return object === 'response.compaction' || (object == null && isCompactEndpoint(this.request))
  }

  private get compaction(): JsonObject {
    const { id } = this
    return { id, object: 'response.compaction', created_at: this.head.createdAt ?? 0, usage: NO_TOKENS }
  }
}

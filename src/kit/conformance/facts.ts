import { createHash } from 'node:crypto'
import { compact, type Json, type JsonObject, parseJson } from './json.ts'
import { BASE64 } from './media/base64.ts'

/*
 * Facts: the meaning of a request, an answer or an error, independent of the format. A field is absent if the message
 * does not state it.
 */

/** A tool call. Arguments are parsed JSON. Text that is not JSON becomes `{ unparsed: text }`. */
export interface CallFacts {
  readonly name?: string
  readonly arguments?: Json
  readonly id?: string
  /** Signature of the model's provider on the call. The caller must send it back with the call. */
  readonly signature?: string
}

/** A tool result and the path of the call that it answers. */
export interface ResultFacts {
  readonly answers?: string
  readonly text?: string
  readonly media?: readonly MediaFacts[]
  readonly isError?: true
}

/** An image, audio or document: its type, and either its URL or the SHA-256 digest of its bytes. */
export interface MediaFacts {
  readonly type?: string
  readonly digest?: string
  readonly address?: string
  readonly name?: string
}

export interface ReasoningFacts {
  readonly text?: string
  readonly signature?: string
  /** Encrypted reasoning that only the provider can read. */
  readonly redacted?: string
}

/** One turn. Consecutive turns of one role are merged. Tool results belong to the user. */
export interface TurnFacts {
  readonly role: 'system' | 'user' | 'assistant'
  /** All text parts of the turn, joined. */
  readonly text?: string
  readonly calls?: readonly CallFacts[]
  readonly results?: readonly ResultFacts[]
  readonly media?: readonly MediaFacts[]
  readonly reasoning?: readonly ReasoningFacts[]
  readonly refusal?: string
  /** Passages that the turn's texts cite. */
  readonly citations?: readonly string[]
  /** Kinds of the turn's parts, in order. Absent if all parts are of one kind. */
  readonly order?: string
}

export interface ToolFacts {
  readonly description?: string
  readonly parameters?: Json
  readonly strict?: boolean
  /** Kind of a tool that the provider runs or that has no schema. */
  readonly kind?: string
  /** Grammar of the text that a free-form tool accepts. */
  readonly grammar?: { readonly syntax?: string; readonly definition?: string }
  /** True if the model must find the tool by a search instead of getting it at the start. */
  readonly deferred?: true
  /** True if another tool has the same name, which providers refuse. */
  readonly repeated?: true
}

/** Returns tools by name. The name of a repeated tool gets a number. */
export function toolsByName(tools: readonly (readonly [name: string, facts: object])[]): RequestFacts['tools'] {
  const byName = new Map<string, object>()
  const counts = new Map<string, number>()
  for (const [name, facts] of tools) {
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    byName.set(count === 1 ? name : `${name} #${count}`, count === 1 ? facts : { ...facts, repeated: true })
  }
  return Object.fromEntries(byName) as RequestFacts['tools']
}

export interface SettingFacts {
  /** Maximum number of output tokens. */
  readonly limit?: number
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly stop?: readonly string[]
  readonly seed?: number
  readonly presencePenalty?: number
  readonly frequencyPenalty?: number
  readonly candidates?: number
  readonly topLogprobs?: number
  readonly parallelCalls?: boolean
  readonly endUser?: string
}

export interface OutputFacts {
  readonly kind: 'json' | 'schema'
  readonly name?: string
  readonly schema?: Json
  readonly strict?: boolean
}

export interface RequestFacts {
  /** All system texts before the first turn, joined by an empty line. */
  readonly system?: string
  readonly turns?: readonly TurnFacts[]
  /** Tools by name. */
  readonly tools?: { readonly [name: string]: ToolFacts }
  /** `none`, `required` or `tool:NAME`. Absent for `auto`, which is the default. */
  readonly toolChoice?: string
  readonly settings?: SettingFacts
  readonly output?: OutputFacts
  /** `wanted` is false if the request switches reasoning off, as opposed to leaving it to the model. */
  readonly reasoning?: { readonly wanted: boolean; readonly effort?: string; readonly budget?: number }
  /** The caller's cache markers, by path and lifetime: `system`, `tools`, `turns[0] 1h`. */
  readonly cacheMarks?: readonly string[]
  readonly stream?: boolean
  /** Id of the answer that the request continues. */
  readonly continues?: { readonly id: string }
}

/** Reason why an answer ended. */
export type Finish = 'stop' | 'length' | 'calls' | 'refused' | 'filtered' | 'paused' | `other:${string}`

export interface CandidateFacts {
  readonly text?: string
  readonly reasoning?: readonly ReasoningFacts[]
  readonly calls?: readonly CallFacts[]
  readonly media?: readonly MediaFacts[]
  readonly refusal?: string
  /** Cited URLs. */
  readonly citations?: readonly string[]
  /** Tokens with their log probabilities and their alternatives. */
  readonly logprobs?: readonly LogprobFacts[]
  /** Kinds of the answer's parts, in order. Absent if all parts are of one kind. */
  readonly order?: string
  readonly finish?: Finish
  /** Stop sequence that ended the text. */
  readonly stopSequence?: string
}

export interface LogprobFacts {
  readonly token?: string
  readonly logprob?: number
  readonly top?: string
}

/** Token counts. Input includes cached tokens. Output includes reasoning. */
export interface UsageFacts {
  readonly input?: number
  readonly output?: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
  readonly reasoning?: number
}

export interface AnswerFacts {
  readonly candidates?: readonly CandidateFacts[]
  readonly usage?: UsageFacts
}

export interface ErrorFacts {
  readonly status: number
  readonly kind?: string
  readonly message?: string
  /** Delay before the caller may retry, in seconds. */
  readonly retryAfter?: number
}

/**
 * Attaches signatures that arrive late to their reasoning. A format may send them after the text, as blocks without
 * text.
 */
export function withLateSignatures(list: readonly ReasoningFacts[]): ReasoningFacts[] {
  const facts: ReasoningFacts[] = []
  for (const one of list) {
    const last = facts.at(-1)
    const isLate = one.text === undefined && one.signature !== undefined
    if (isLate && last?.text !== undefined && last.signature === undefined)
      facts[facts.length - 1] = { ...last, signature: one.signature! }
    else facts.push(one)
  }
  return facts
}

/** Parses the arguments that a model wrote. Text that is not JSON stays text. An empty text means no arguments. */
export const argumentsOf = (text: string): Json => (text === '' ? {} : (parseJson(text) ?? { unparsed: text }))

/**
 * Returns the facts of media given in base64. Node also reads the alphabet of URLs, line ends and missing padding, which
 * other readers refuse.
 */
export const mediaOf = (type: string | undefined, base64: string): MediaFacts =>
  mediaIf(base64.length % 4 === 0 && BASE64.test(base64), type, base64)

const mediaIf = (isBase64: boolean, type: string | undefined, base64: string): MediaFacts =>
  compact({
    type,
    digest: isBase64
      ? createHash('sha256').update(Buffer.from(base64, 'base64')).digest('hex')
      : `no base64: ${base64.slice(0, 40)}`,
  }) as MediaFacts

/** Like `mediaOf`, for base64 in either alphabet and with or without padding, as Google's JSON allows (ProtoJSON). */
export const protoMediaOf = (type: string | undefined, base64: string): MediaFacts =>
  mediaIf(isProtoBase64(base64), type, base64)

/** Returns true for base64 in either alphabet. A single character after whole groups of four encodes nothing. */
const isProtoBase64 = (text: string): boolean => {
  const digits = text.replace(/={0,2}$/, '')
  return digits.length % 4 !== 1 && /^(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)$/.test(digits)
}

const DATA_URL = /^data:([^;,]*)(?:;[^,]*)?;base64,(.*)$/s

/** Returns the facts of media at a URL. The bytes of a `data:` URL are decoded. */
export function mediaAt(address: string): MediaFacts {
  const [, type, base64] = DATA_URL.exec(address) ?? []
  return base64 === undefined ? { address } : mediaOf(type, base64)
}

/** Returns the facts of a token: its log probability and its alternatives, sorted by text. */
export function logprobOf(
  token: string | undefined,
  logprob: number | undefined,
  alternatives: readonly (readonly [string, Json])[],
): LogprobFacts {
  const top = [...alternatives]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([text, one]) => `${JSON.stringify(text)} ${String(one)}`)
  return compact({ token, logprob, top: top.join(', ') || undefined }) as LogprobFacts
}

/** Tools that providers run, matched by the start of their names in all formats. */
const HOSTED_TOOLS: readonly (readonly [RegExp, string])[] = [
  [/^web_search|^google_?search/i, 'web-search'],
  [/^tool_search/, 'tool-search'],
]

/** Returns the kind of a hosted tool. Each format has its own names for a kind, some with a version. */
export const hostedKind = (type: string): string => HOSTED_TOOLS.find(([pattern]) => pattern.test(type))?.[1] ?? type

/** Part of a turn. The turn's facts are derived from its parts. */
export type Part =
  | { readonly kind: 'text'; readonly text: string; readonly citations?: readonly string[] }
  | { readonly kind: 'refusal'; readonly text: string }
  | { readonly kind: 'call'; readonly call: CallFacts }
  | { readonly kind: 'result'; readonly result: ResultFacts; readonly callId?: string }
  | { readonly kind: 'media'; readonly media: MediaFacts }
  | { readonly kind: 'reasoning'; readonly reasoning: ReasoningFacts }

export interface RawTurn {
  readonly role: TurnFacts['role']
  readonly parts: readonly Part[]
}

const partsOfKind = <K extends Part['kind']>(parts: readonly Part[], kind: K): Extract<Part, { kind: K }>[] =>
  parts.filter((part): part is Extract<Part, { kind: K }> => part.kind === kind)

const joined = (texts: readonly string[]): string | undefined => (texts.length === 0 ? undefined : texts.join(''))

/** Returns the kinds of the parts in order, without repetitions, or undefined if all are of one kind. */
export function orderOf(parts: readonly Pick<Part, 'kind'>[]): string | undefined {
  const kinds = parts.map(({ kind }) => kind).filter((kind, index, all) => kind !== all[index - 1])
  return kinds.length > 1 ? kinds.join(' ') : undefined
}

/** Returns the facts of turns. Consecutive turns of one role are merged. Results are matched to their calls by id. */
export function turnsOf(raw: readonly RawTurn[]): TurnFacts[] {
  const merged: { role: TurnFacts['role']; parts: Part[] }[] = []
  for (const { role, parts } of raw) {
    const last = merged.at(-1)
    if (last?.role === role) for (const part of parts) last.parts.push(part)
    else merged.push({ role, parts: [...parts] })
  }
  const calls = new Map<string, string>()
  return merged.map(({ role, parts }, index) => {
    for (const [number, { call }] of partsOfKind(parts, 'call').entries())
      if (call.id !== undefined) calls.set(call.id, `turns[${index}].calls[${number}]`)
    const resultOf = ({ result, callId }: Extract<Part, { kind: 'result' }>): ResultFacts =>
      compact({ answers: callId === undefined ? undefined : calls.get(callId), ...result }) as ResultFacts
    return compact({
      role,
      text: joined(partsOfKind(parts, 'text').map(({ text }) => text)),
      citations: partsOfKind(parts, 'text').flatMap(({ citations }) => citations ?? []),
      refusal: joined(partsOfKind(parts, 'refusal').map(({ text }) => text)),
      // In a history, the ids of calls only serve to match results to calls.
      calls: partsOfKind(parts, 'call').map(({ call: { id: _, ...call } }) => call),
      results: partsOfKind(parts, 'result').map(resultOf),
      media: partsOfKind(parts, 'media').map(({ media }) => media),
      reasoning: partsOfKind(parts, 'reasoning').map(({ reasoning }) => reasoning),
      order: orderOf(parts),
    }) as TurnFacts
  })
}

/** Names of facts, at any depth, whose values are compared as a unit. */
const UNIT_FACTS = new Set(['arguments', 'parameters', 'schema', 'stop', 'cacheMarks', 'citations'])

/** Returns every fact by its path, such as `turns[1].calls[0].arguments`. */
export function leavesOf(facts: object): Map<string, Json> {
  const leaves = new Map<string, Json>()
  const visit = (value: Json | undefined, path: string, isWhole: boolean): void => {
    if (value === undefined) return
    if (isWhole || typeof value !== 'object' || value === null) leaves.set(path, value)
    else if (Array.isArray(value)) for (const [index, one] of value.entries()) visit(one, `${path}[${index}]`, false)
    else
      for (const [name, one] of Object.entries(value as JsonObject))
        visit(one, path === '' ? name : `${path}.${name}`, UNIT_FACTS.has(name))
  }
  visit(facts as unknown as JsonObject, '', false)
  return leaves
}

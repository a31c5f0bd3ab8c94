import type { Part } from '../../canonical/content.ts'
import { GatewayError } from '../../canonical/error.ts'
import { isObject, type Json, type JsonObject, type Node } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { anyNumber, anyObject, anyText, defined, rest } from '../fields.ts'
import { readOutput } from './answer.ts'
import { readInnerError } from './error.ts'
import { type ContentFacts, readFinish, readTask } from './status.ts'
import { UpstreamCalls } from './upstream-calls.ts'
import { readUsage } from './usage.ts'

const FORMAT = 'responses'

/** A whole answer (FORMATS §4); an error under status 200 is thrown (trap 77). */
export function readResult({ body }: WireAnswer, request: CanonicalRequest): CanonicalResult {
  if (!Array.isArray(body['output']))
    throw new GatewayError(body['error'] == null ? NOT_AN_ANSWER : readInnerError(body))
  const { parts, tokens } = readOutput(body['output'], new UpstreamCalls(request).read(body))
  const finish = readFinish(body, factsOf(parts))
  const error = body['status'] === 'failed' ? anyObject(body['error']) : undefined
  const usage = anyObject(body['usage'])
  const candidate = { content: parts, ...defined({ finish, logprobs: tokens.length === 0 ? undefined : tokens }) }
  return {
    ...readHead(body),
    candidates: error !== undefined && parts.length === 0 ? [] : [candidate],
    ...defined({ usage: usage && readUsage(usage), task: readTask(body), error: error && readInnerError(error) }),
    ...readNode(body),
  }
}

const NOT_AN_ANSWER = { kind: 'upstream-failed', message: 'The upstream sent something that is no response.' } as const

const factsOf = (parts: readonly Part[]): ContentFacts => ({
  called: parts.some(part => part.type === 'tool-call'),
  refused: parts.some(part => part.type === 'refusal'),
})

const HEAD = ['id', 'model', 'created_at', 'service_tier', 'output', 'usage'] as const

/** Fields that repeat the request, and the answer's state: they hold nothing new for other formats. */
const ECHO = new Set([
  ...['object', 'status', 'error', 'incomplete_details', 'completed_at', 'background', 'instructions'],
  ...['max_output_tokens', 'max_tool_calls', 'metadata', 'parallel_tool_calls', 'previous_response_id', 'prompt'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options', 'reasoning', 'safety_identifier', 'store'],
  ...['temperature', 'text', 'tool_choice', 'tools', 'top_logprobs', 'top_p', 'truncation', 'user', 'billing'],
  ...['frequency_penalty', 'presence_penalty', 'conversation', 'context_management', 'output_text', 'access_programs'],
  ...['image', 'include', 'stream'],
])
const TAKEN: ReadonlySet<string> = new Set([...HEAD, ...ECHO])

export const readHead = (body: JsonObject) =>
  defined({
    id: anyText(body['id']),
    model: anyText(body['model']),
    createdAt: anyNumber(body['created_at']),
    serviceTier: anyText(body['service_tier']),
  })

/** The other fields of the response object: the echo is spelling, unknown fields are extras. */
export function readNode(body: JsonObject): Node {
  const entries = Object.entries(body).filter(([key, value]) => ECHO.has(key) && value !== null)
  const echo = Object.fromEntries(entries) as { readonly [key: string]: Json }
  return rest(FORMAT, body, TAKEN, { echo, ...missing(body) }, misread(body))
}

/** Which of the answer's id and model are missing: a compaction has no model. */
const missing = ({ id, model }: JsonObject): JsonObject => ({
  ...(id == null ? { anonymous: true } : {}),
  ...(model == null ? { nameless: true } : {}),
})

const isTextual = (value: Json): boolean => typeof value === 'string'
const CHECKS: { readonly [field: string]: (value: Json) => boolean } = {
  id: isTextual,
  model: isTextual,
  created_at: value => typeof value === 'number',
  service_tier: isTextual,
  usage: isObject,
}

/** Known fields of a wrong type are kept as they are. */
const misread = (body: JsonObject): string[] =>
  Object.keys(CHECKS).filter(field => body[field] != null && !CHECKS[field]!(body[field]!))

import type { Path } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { ChatDialect } from '../../formats/dialects/chat.ts'
import { withFields } from '../native.ts'
import { FORMAT, type WriteContext } from './content.ts'

/*
 * Groq and Cerebras refuse a request with a field that they do not know: "property 'verbosity' is unsupported"
 * (docs/wire/chat.md#fields-that-vendors-refuse). Codex and Cherry Studio send such fields.
 */

const NEWER_FIELDS = ['verbosity', 'prompt_cache_retention', 'safety_identifier'] as const
/** Fields that Groq knows and refuses (console.groq.com/docs/openai, read on 2026-12-01). */
const LACKING = ['logprobs', 'top_logprobs', 'logit_bias'] as const

/** Fields of OpenAI that each value of `request_fields` refuses. */
const REFUSED: { readonly [F in NonNullable<ChatDialect['request_fields']>]?: readonly (keyof typeof PATHS)[] } = {
  groq: [...NEWER_FIELDS, 'prompt_cache_key', ...LACKING],
  cerebras: [...NEWER_FIELDS, 'metadata'],
}

/** Paths of these fields in the canonical request. Without a path, another field states the same. */
const PATHS = {
  verbosity: ['output', 'verbosity'],
  prompt_cache_key: ['cacheKey'],
  prompt_cache_retention: ['extras', FORMAT, 'prompt_cache_retention'],
  safety_identifier: ['endUser'],
  metadata: ['metadata'],
  logprobs: ['sampling', 'logprobs'],
  top_logprobs: undefined,
  logit_bias: ['extras', FORMAT, 'logit_bias'],
} as const satisfies { readonly [field: string]: Path | undefined }

/** Leaves out the fields that the upstream refuses. */
export function withoutUnknownFields(
  body: JsonObject,
  request: CanonicalRequest,
  { dialect, losses }: WriteContext,
): JsonObject {
  const refused = (REFUSED[dialect.request_fields ?? 'any'] ?? []).filter(field => body[field] !== undefined)
  for (const field of refused)
    if (PATHS[field] !== undefined && body[field]) losses.drop(PATHS[field], 'no-equivalent-field')
  const taken = withFields(body, {}, refused)
  return dialect.request_fields === 'groq' ? forGroq(taken, request, { dialect, losses }) : taken
}

/** Leaves out the names of messages, and a number of answers other than one, which Groq refuses. */
function forGroq(body: JsonObject, { messages, output }: CanonicalRequest, { losses }: WriteContext): JsonObject {
  const isSeveral = body['n'] != null && body['n'] !== 1
  if (isSeveral && output.candidates !== undefined) losses.drop(['output', 'candidates'], 'one-candidate-only')
  messages.forEach(({ name }, index) => {
    if (name !== undefined) losses.drop(['messages', index, 'name'], 'no-names')
  })
  const wire = Array.isArray(body['messages']) ? body['messages'] : []
  const changes = wire.some(isNamed) ? { messages: wire.map(withoutName) } : {}
  return withFields(body, changes, isSeveral ? ['n'] : [])
}

const isNamed = (message: Json): message is JsonObject => isObject(message) && message['name'] !== undefined

const withoutName = (message: Json): Json => (isNamed(message) ? withFields(message, {}, ['name']) : message)

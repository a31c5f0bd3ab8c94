import type { Losses, Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { ChatDialect } from '../../formats/dialects/chat.ts'
import { withFields } from '../native.ts'
import { FORMAT, type WriteContext } from './content.ts'
import {
  ALL_BUT_NAMES,
  type KnownFields,
  STRICT_MESSAGES,
  withKnownExtras,
  withKnownMessages,
} from './known-messages.ts'

/*
 * Some vendors refuse a request with a field that they do not know: "property 'verbosity' is unsupported" (Groq),
 * "Extra inputs are not permitted" (Fireworks), "Unsupported parameter(s): `prompt_cache_key`" (NVIDIA), "Unrecognized
 * request argument supplied" (Azure); docs/wire/chat.md#fields-that-vendors-refuse. Codex, Cherry Studio and agents that
 * return whole messages of OpenAI's SDKs send such fields.
 */

const NEWER_FIELDS = ['verbosity', 'prompt_cache_retention', 'safety_identifier'] as const
const CACHE_FIELDS = ['prompt_cache_key', 'prompt_cache_options'] as const
/** Fields that Groq knows and refuses (console.groq.com/docs/openai, read on 2026-12-01). */
const LACKING = ['logprobs', 'top_logprobs', 'logit_bias'] as const

/** The parts of OpenAI's format that an upstream refuses. */
interface Refused {
  readonly fields: readonly (keyof typeof PATHS)[]
  /** The fields of messages that the upstream takes. Defaults to all. */
  readonly messages?: KnownFields
  /** False if there is one answer per request. */
  readonly candidates?: false
}

/** The refused parts by the value of `request_fields`. */
const REFUSED: { readonly [F in NonNullable<ChatDialect['request_fields']>]?: Refused } = {
  groq: {
    fields: [...NEWER_FIELDS, 'prompt_cache_key', ...LACKING],
    messages: ALL_BUT_NAMES,
    candidates: false,
  },
  cerebras: { fields: [...NEWER_FIELDS, 'metadata'] },
  fireworks: {
    fields: [...NEWER_FIELDS, 'prompt_cache_options', 'moderation', 'modalities', 'audio'],
    messages: STRICT_MESSAGES,
  },
  // Zed's and pi's requests to Kimi and DeepSeek (zed-industries/zed#52000, earendil-works/pi#9645, read on 2026-12-01).
  azure: { fields: ['prompt_cache_retention', ...CACHE_FIELDS] },
  nvidia: {
    fields: [...NEWER_FIELDS, ...CACHE_FIELDS, 'metadata', 'service_tier', 'moderation', 'modalities', 'audio'],
  },
}

/** Paths of these fields in the canonical request. Without a path, another field states the same. */
const PATHS = {
  verbosity: ['output', 'verbosity'],
  prompt_cache_key: ['cacheKey'],
  prompt_cache_retention: ['extras', FORMAT, 'prompt_cache_retention'],
  prompt_cache_options: ['extras', FORMAT, 'prompt_cache_options'],
  safety_identifier: ['endUser'],
  metadata: ['metadata'],
  service_tier: ['serviceTier'],
  moderation: ['extras', FORMAT, 'moderation'],
  modalities: ['output', 'modalities'],
  audio: ['output', 'audio'],
  logprobs: ['sampling', 'logprobs'],
  top_logprobs: undefined,
  logit_bias: ['extras', FORMAT, 'logit_bias'],
} as const satisfies { readonly [field: string]: Path | undefined }

/** Returns the dialect without cache markers if messages may not have them. */
export const withTakenMarkers = (dialect: ChatDialect): ChatDialect =>
  REFUSED[dialect.request_fields ?? 'any']?.messages === STRICT_MESSAGES ? { ...dialect, cache: 'none' } : dialect

/** Returns a request to be written without extras that the upstream refuses in messages. */
export function withTakenExtras(request: CanonicalRequest, { request_fields }: ChatDialect, losses: Losses) {
  const messages = REFUSED[request_fields ?? 'any']?.messages
  return messages === STRICT_MESSAGES
    ? { ...request, messages: withKnownExtras(request.messages, messages, losses) }
    : request
}

/** Leaves out the fields that the upstream refuses. */
export function withoutUnknownFields(
  body: JsonObject,
  request: CanonicalRequest,
  { dialect, losses }: WriteContext,
): JsonObject {
  const rule = REFUSED[dialect.request_fields ?? 'any']
  if (rule === undefined) return body
  const refused = rule.fields.filter(field => body[field] !== undefined)
  for (const field of refused)
    if (PATHS[field] !== undefined && body[field]) losses.drop(PATHS[field], 'no-equivalent-field')
  const isSeveral = rule.candidates === false && body['n'] != null && body['n'] !== 1
  if (isSeveral && request.output.candidates !== undefined) losses.drop(['output', 'candidates'], 'one-candidate-only')
  const taken = withFields(body, {}, isSeveral ? [...refused, 'n'] : refused)
  return rule.messages === undefined ? taken : withKnownMessages(taken, request, rule.messages, losses)
}

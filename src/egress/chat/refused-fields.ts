import type { Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { ChatDialect } from '../../formats/dialects/chat.ts'
import { withFields } from '../native.ts'
import { FORMAT, type WriteContext } from './content.ts'

/*
 * Groq and Cerebras refuse a request with a field that they do not know: "property 'verbosity' is unsupported"
 * (docs/wire/chat.md#fields-that-vendors-refuse). Codex and Cherry Studio send such fields.
 */

const NEWER_FIELDS = ['verbosity', 'prompt_cache_retention', 'safety_identifier'] as const

/** Fields of OpenAI that each value of `request_fields` refuses. */
const REFUSED: { readonly [F in NonNullable<ChatDialect['request_fields']>]?: readonly (keyof typeof PATHS)[] } = {
  groq: [...NEWER_FIELDS, 'prompt_cache_key'],
  cerebras: [...NEWER_FIELDS, 'metadata'],
}

/** Paths of these fields in the canonical request. */
const PATHS = {
  verbosity: ['output', 'verbosity'],
  prompt_cache_key: ['cacheKey'],
  prompt_cache_retention: ['extras', FORMAT, 'prompt_cache_retention'],
  safety_identifier: ['endUser'],
  metadata: ['metadata'],
} as const satisfies { readonly [field: string]: Path }

/** Leaves out the fields that the upstream refuses. */
export function withoutUnknownFields(body: JsonObject, { dialect, losses }: WriteContext): JsonObject {
  const refused = (REFUSED[dialect.request_fields ?? 'any'] ?? []).filter(field => body[field] !== undefined)
  for (const field of refused) losses.drop(PATHS[field], 'no-equivalent-field')
  return withFields(body, {}, refused)
}

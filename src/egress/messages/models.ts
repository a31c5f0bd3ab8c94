import { MODEL_CREATED_AT, type ModelCard } from '../../canonical/model-card.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { idPage } from '../transport/model-pages.ts'
import type { ModelWriter } from '../writer.ts'

/** Lists models as Anthropic does (docs/wire/messages.md#model-list). */
export const models: ModelWriter = {
  list: (cards, query) => {
    const { rows, more } = idPage(cards, query)
    const [first, last] = [rows[0]?.id ?? null, rows.at(-1)?.id ?? null]
    return JSON.stringify({ data: rows.map(record), has_more: more, first_id: first, last_id: last })
  },
  record: card => record(card),
}

const record = ({ id, name, context, maxOutput, abilities }: ModelCard): JsonObject => ({
  id,
  type: 'model',
  display_name: name ?? id,
  created_at: new Date(MODEL_CREATED_AT * 1000).toISOString(),
  lifecycle: 'active',
  deprecated_at: null,
  retires_at: null,
  line: null,
  max_input_tokens: context ?? null,
  max_tokens: maxOutput ?? null,
  capabilities: abilities.converses ? null : NO_CAPABILITIES,
})

const UNSUPPORTED = { supported: false }

/**
 * Capabilities of a model that cannot hold a conversation. Null for a conversational model, because its capabilities
 * are unknown.
 */
const NO_CAPABILITIES: JsonObject = {
  batch: UNSUPPORTED,
  citations: UNSUPPORTED,
  code_execution: UNSUPPORTED,
  context_management: {
    ...UNSUPPORTED,
    clear_thinking_20251015: UNSUPPORTED,
    clear_tool_uses_20250919: UNSUPPORTED,
    compact_20260112: UNSUPPORTED,
  },
  effort: {
    ...UNSUPPORTED,
    low: UNSUPPORTED,
    medium: UNSUPPORTED,
    high: UNSUPPORTED,
    xhigh: UNSUPPORTED,
    max: UNSUPPORTED,
  },
  image_input: UNSUPPORTED,
  pdf_input: UNSUPPORTED,
  server_tools: { ...UNSUPPORTED, code_execution: UNSUPPORTED, web_search: UNSUPPORTED },
  structured_outputs: UNSUPPORTED,
  thinking: {
    ...UNSUPPORTED,
    types: { adaptive: UNSUPPORTED, between_tools: UNSUPPORTED, disabled: UNSUPPORTED, enabled: UNSUPPORTED },
  },
}

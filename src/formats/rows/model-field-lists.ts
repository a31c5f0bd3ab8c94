import type { ModelFields } from './row.ts'

/** Request fields in any format: fallback models of LiteLLM, OpenRouter and Anthropic, and Azure's deployment. */
export const COMMON_MODEL_FIELDS: readonly string[] = [
  ...['models.*', 'fallbacks.*', 'context_window_fallbacks.*', 'content_policy_fallbacks.*'],
  'deployment_id',
]

/**
 * Conversation fields that name additional models, such as those of OpenRouter's plugins and server tools, and of
 * Anthropic's advisor.
 */
export const CONVERSATION_MODEL_FIELDS: readonly string[] = [
  ...COMMON_MODEL_FIELDS,
  ...['tools.*.model', 'tools.*.container.model', 'tools.*.svg.model'],
  ...['tools.*.hosted:parameters.model', 'tools.*.hosted:parameters.analysis_models.*'],
  ...['plugins.*.model', 'plugins.*.analysis_models.*'],
  ...['mcp_servers.*.model', 'container.model', 'context_management.*.model', 'context_management.edits.*.model'],
  'draft_model',
]

/** Additionally includes the model of a stored prompt, for formats whose requests can refer to one. */
export const PROMPT_MODEL_FIELDS: readonly string[] = [...CONVERSATION_MODEL_FIELDS, 'prompt.model']

export const modelFields = (
  others: readonly string[] = COMMON_MODEL_FIELDS,
  requested: readonly string[] = ['model'],
): ModelFields => ({
  requested,
  others,
  helpers: [],
})

import type { ModelFields } from './row.ts'

/** Fallbacks of LiteLLM, which takes them at all its endpoints, and of OpenRouter and Anthropic; Azure's deployment. */
export const ANYWHERE: readonly string[] = [
  ...['models.*', 'fallbacks.*', 'context_window_fallbacks.*', 'content_policy_fallbacks.*'],
  'deployment_id',
]

/** OpenRouter's plugins and server tools, Anthropic's advisor, and what else a conversation runs beside its model. */
export const CONVERSATION: readonly string[] = [
  ...ANYWHERE,
  ...['tools.*.model', 'tools.*.container.model', 'tools.*.svg.model'],
  ...['tools.*.hosted:parameters.model', 'tools.*.hosted:parameters.analysis_models.*'],
  ...['plugins.*.model', 'plugins.*.analysis_models.*'],
  ...['mcp_servers.*.model', 'container.model', 'context_management.*.model', 'context_management.edits.*.model'],
  'draft_model',
]

export const PROMPTED: readonly string[] = [...CONVERSATION, 'prompt.model']

export const modelFields = (
  others: readonly string[] = ANYWHERE,
  requested: readonly string[] = ['model'],
): ModelFields => ({
  requested,
  others,
  helpers: [],
})

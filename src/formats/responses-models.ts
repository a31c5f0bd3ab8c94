/*
 * Models that vendors with several formats serve in Responses alone, and refuse in Chat Completions (LiteLLM's table of
 * models of 2026-11-23, `supported_endpoints`; OpenAI's and xAI's pages of models).
 */

/** Matches OpenAI's models. Deployments at Azure usually have the names of their models. */
export const OPENAI_RESPONSES_MODELS =
  /^(?:codex-mini|computer-use|gpt-5(?:\.\d+)?-(?:codex|pro)|gpt-daybreak|o[134](?:-mini)?-(?:pro|deep-research))(?:-|$)/i

/** Matches xAI's models. */
export const XAI_RESPONSES_MODELS = /^grok-[\d.]+-multi-agent(?:-|$)/i

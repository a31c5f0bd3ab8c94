/*
 * Models that vendors with several formats serve in Responses alone, and refuse in Chat Completions (LiteLLM's table of
 * models of 2026-11-23, `supported_endpoints`; OpenAI's and xAI's pages of models).
 */

/** Matches OpenAI's models. Deployments at Azure usually have the names of their models. */
export const OPENAI_RESPONSES_MODELS =
  /^(?:codex-mini|computer-use|gpt-5(?:\.\d+)?-(?:codex|pro)|gpt-daybreak|o[134](?:-mini)?-(?:pro|deep-research))(?:-|$)/i

/** Matches xAI's models. */
export const XAI_RESPONSES_MODELS = /^grok-[\d.]+-multi-agent(?:-|$)/i

/** Models that take functions in one format only in some cases, by what a request says about reasoning. */
export interface FunctionModels {
  /** Matches models that refuse functions if the request asks for an effort. */
  readonly thinking: RegExp
  /** Matches models that refuse functions if the request says nothing about reasoning, because they reason by default. */
  readonly unstated: RegExp
  /** The vendor's host. Other servers at which its preset is used may take functions, and have one format only. */
  readonly host?: string
}

/**
 * OpenAI's models from GPT-5.4 on, which refuse functions in Chat Completions while they reason: "Function tools with
 * reasoning_effort are not supported for gpt-5.6-terra in /v1/chat/completions. To use function tools, use /v1/responses
 * or set reasoning_effort to 'none'" (openai/openai-openapi#541, BerriAI/litellm#34569, can1357/oh-my-pi#11052; Bedrock
 * Mantle: LiteLLM 1.110.2, `responses/bridge_check.py`; read on 2026-12-01). GPT-5.4 does not reason by default.
 */
export const OPENAI_FUNCTION_MODELS: FunctionModels = {
  thinking: /^(?:openai\.)?gpt-(?:5\.(?:[4-9]|\d\d)|[6-9])(?!\d)/i,
  unstated: /^(?:openai\.)?gpt-(?:5\.(?:[5-9]|\d\d)|[6-9])(?!\d)/i,
}

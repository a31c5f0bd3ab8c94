import type { CanonicalError } from '../../canonical/error.ts'

/*
 * Upstreams' messages and codes for a request that exceeds the model's context (trap 98), collected from error messages
 * in public issue trackers and from the lists of coding agents (pi, opencode), as of 2026-11.
 */

/** Codes and types that are sufficient without a matching message: OpenAI, Copilot, llama.cpp. */
const CODES: ReadonlySet<string | undefined> = new Set([
  'context_length_exceeded',
  'model_max_prompt_tokens_exceeded',
  'exceed_context_size_error',
])

const MESSAGES: readonly RegExp[] = [
  /prompt is too long/i, // Anthropic
  /exceed context limit/i, // Anthropic, if prompt and answer limit together are too long
  /maximum context length/i, // OpenAI, DeepSeek, OpenRouter, vLLM, SGLang, Mistral, Ollama
  /context length is only/i, // vLLM
  /exceeds? (?:the |this )?(?:model'?s )?context (?:window|length)/i, // OpenAI (responses), Ollama
  /tokens exceed the configured limit/i, // OpenAI
  /reduce the length of the (?:messages|input|prompt)/i, // Groq
  /input token count.{0,40}(?:exceeds|supports)/i, // Google
  /maximum prompt length is/i, // xAI
  /longer than the model'?s context length/i, // Together
  /`?inputs`? tokens \+ `?max_new_tokens`? must be/i, // text-generation-inference, Together
  /maximum allowed input length/i, // Poolside
  /(?:available|configured) context size/i, // llama.cpp
  /greater than the context length/i, // LM Studio
  /prompt too long; exceeded/i, // Ollama
  /token count of [\d,]+ exceeds the limit/i, // Copilot
  /context window exceeds limit/i, // MiniMax
  /exceeded model token limit/i, // Moonshot
  /range of input length should be/i, // Qwen
  /input is too long for requested model/i, // Bedrock
  /too many tokens: .{0,80}cannot exceed/i, // Cohere
  /context[_ ]length[_ ]exceeded/i,
]

/** Matches errors of rate limits. Their messages are similar, but a retry helps. */
const RATES = /rate limit|too many requests|tokens per (?:minute|min|day)|\bTPM\b/i

/**
 * Patterns for the size of the request in tokens. If there are two numbers, for prompt and answer, they are added up.
 */
const TOKENS: readonly RegExp[] = [
  /([\d,]+) tokens > /,
  /limit: ([\d,]+) \+ ([\d,]+) > /,
  /total of (?:at least )?([\d,]+) tokens/i,
  /passed ([\d,]+) input tokens and requested ([\d,]+) output/i,
  /has ([\d,]+) input tokens \(([\d,]+) > /i,
  /requested (?:about )?([\d,]+) tokens/i,
  /resulted in ([\d,]+) tokens/i,
  /token count (?:is |of )?\(?([\d,]+)/i,
  /request contains ([\d,]+) tokens/i,
  /prompt (?:contains|has) ([\d,]+) tokens/i,
  /(?:input|request) \(([\d,]+) tokens\)/i,
  /input length \(?([\d,]+)/i,
  /\(requested: ([\d,]+)\)/i,
  /given: ([\d,]+) `?inputs`? tokens and ([\d,]+)/i,
  /received ([\d,]+)/i,
]

/** Patterns for the maximum number of tokens that the model accepts. */
const MAXIMUM_PATTERNS: readonly RegExp[] = [
  /> ([\d,]+)(?: maximum|,|\.|$)/,
  /maximum context length(?: is| of)? \(?([\d,]+)/i,
  /([\d,]+) maximum context length/i,
  /context length is only ([\d,]+)/i,
  /context (?:length|size) (?:is |\()([\d,]+)/i,
  /maximum prompt length is ([\d,]+)/i,
  /tokens allowed \(?([\d,]+)/i,
  /limit of ([\d,]+)/i,
  /allowed input length of ([\d,]+)/i,
  /token limit: ([\d,]+)/i,
  /must be <= ([\d,]+)/i,
  /only supports up to ([\d,]+)/i,
  /cannot exceed ([\d,]+)/i,
  /should be \[\d+, ([\d,]+)\]/i,
]

/**
 * Reads the token counts from an error about a request too long for the model.
 *
 * @param text the error's message, of bounded length.
 * @returns undefined for any other error, or an empty object if the message has no numbers.
 */
export function contextOf(codes: readonly (string | undefined)[], text: string): CanonicalError['context'] {
  if (!codes.some(code => CODES.has(code)) && (RATES.test(text) || !MESSAGES.some(message => message.test(text))))
    return undefined
  const tokens = numberIn(text, TOKENS)
  const maximum = numberIn(text, MAXIMUM_PATTERNS)
  return {
    // A prompt within the maximum cannot have caused the error.
    ...(tokens === undefined || tokens <= (maximum ?? 0) ? {} : { tokens }),
    ...(maximum === undefined ? {} : { maximum }),
  }
}

function numberIn(text: string, patterns: readonly RegExp[]): number | undefined {
  for (const pattern of patterns) {
    const [, ...numbers] = pattern.exec(text) ?? []
    if (numbers.length === 0) continue
    const sum = numbers.reduce((sum, digits) => sum + Number(digits.replaceAll(',', '')), 0)
    if (Number.isSafeInteger(sum) && sum > 0) return sum
  }
  return undefined
}

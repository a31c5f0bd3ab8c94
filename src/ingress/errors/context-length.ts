import type { CanonicalError } from '../../canonical/error.ts'

/*
 * In which words and codes upstreams say that a request is longer than their model's context (trap 98). Gathered from
 * the error messages users of each vendor report in public issue trackers, and from the lists agents keep for the same
 * purpose (pi, opencode), as of 2026-11.
 */

/** Codes and types that say it by themselves: OpenAI, Copilot, llama.cpp. */
const CODES: ReadonlySet<string | undefined> = new Set([
  'context_length_exceeded',
  'model_max_prompt_tokens_exceeded',
  'exceed_context_size_error',
])

const WORDS: readonly RegExp[] = [
  /prompt is too long/i, // Anthropic
  /exceed context limit/i, // Anthropic, where the answer's limit is what makes it too long
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

/** Limits of tokens a minute read much alike, but pass by themselves. */
const RATES = /rate limit|too many requests|tokens per (?:minute|min|day)|\bTPM\b/i

/** How many tokens the request has; where there are two numbers, prompt and answer, it is their sum. */
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

/** How many the model takes at most. */
const MAXIMUM: readonly RegExp[] = [
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
 * Whether an error says that the request is too long for the model, and the numbers it says it with.
 *
 * @param said the words of the error, of a bounded length.
 * @returns undefined where it is not; nothing in it where no number is told.
 */
export function contextOf(codes: readonly (string | undefined)[], said: string): CanonicalError['context'] {
  if (!codes.some(code => CODES.has(code)) && (RATES.test(said) || !WORDS.some(words => words.test(said))))
    return undefined
  const tokens = numberIn(said, TOKENS)
  const maximum = numberIn(said, MAXIMUM)
  return {
    // A prompt that fits by itself does not say what was too long.
    ...(tokens === undefined || tokens <= (maximum ?? 0) ? {} : { tokens }),
    ...(maximum === undefined ? {} : { maximum }),
  }
}

function numberIn(said: string, patterns: readonly RegExp[]): number | undefined {
  for (const pattern of patterns) {
    const [, ...numbers] = pattern.exec(said) ?? []
    if (numbers.length === 0) continue
    const sum = numbers.reduce((sum, digits) => sum + Number(digits.replaceAll(',', '')), 0)
    if (Number.isSafeInteger(sum) && sum > 0) return sum
  }
  return undefined
}

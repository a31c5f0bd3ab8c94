import { PLAIN_CHAT } from '../dialects/chat.ts'
import { PLAIN_MESSAGES } from '../dialects/messages.ts'
import { PLAIN_RESPONSES } from '../dialects/responses.ts'
import { openaiFormats } from '../openai-formats.ts'
import type { Preset } from '../preset.ts'

/* Presets of self-hosted upstreams, of upstreams that operators describe, and of recordings. */

/**
 * Chat dialect of self-hosted servers. All of them parse the arguments of earlier calls, and refuse those of a call that
 * was cut: "Unterminated string" (vllm-project/vllm#43995 and #48922), "Failed to parse tool call arguments as JSON"
 * (llama.cpp, OpenHands/software-agent-sdk#2887), sglang 0.5.23, mlx-lm 0.32.2, read on 2026-12-01.
 */
const LOCAL_CHAT = {
  ...{ ...PLAIN_CHAT, reasoning_field: 'reasoning', limit_field: 'max_tokens', include_usage: true },
  ...{ chat_templates: true, odd_arguments: false },
}

/** Dialect of responses of self-hosted servers. They parse earlier calls, too (local-inference-lab/vllm#684, Codex). */
const LOCAL_RESPONSES = { ...PLAIN_RESPONSES, odd_arguments: false } as const

/** Dialect of text completions that take no `suffix` (egress/completions/fill-in.ts). */
const NO_SUFFIX = { include_usage: true, suffix: false } as const

/** Efforts of Ollama: "invalid reasoning value: 'xhigh'" (ollama/ollama#17141 and #17252, read on 2026-12-01). */
const OLLAMA_EFFORTS = { efforts: ['none', 'low', 'medium', 'high', 'max'] } as const

/**
 * Ollama takes images as bytes only. It refuses files in Chat Completions and Responses, and skips them in Messages
 * (ollama/ollama, `openai/openai.go`, `openai/responses.go`, `anthropic/anthropic.go`, read on 2026-12-01).
 */
const BYTES_OF_IMAGES = { files: false, fetch_urls: true } as const

/** Ollama on this machine. */
export const ollama: Preset = {
  name: 'ollama',
  env: [],
  keyless: true,
  formats: [
    {
      format: 'chat',
      baseUrl: 'http://127.0.0.1:11434/v1',
      dialect: { ...LOCAL_CHAT, ...OLLAMA_EFFORTS, ...BYTES_OF_IMAGES, tool_choices: 'none' },
    },
    {
      format: 'responses',
      baseUrl: 'http://127.0.0.1:11434/v1',
      dialect: { ...LOCAL_RESPONSES, ...OLLAMA_EFFORTS, ...BYTES_OF_IMAGES },
    },
    {
      format: 'messages',
      baseUrl: 'http://127.0.0.1:11434',
      dialect: { ...PLAIN_MESSAGES, ...BYTES_OF_IMAGES, forced_tools: false },
    },
    // `Prompt string` in `openai/openai.go` (ollama/ollama): a list is "cannot unmarshal array into Go struct field".
    { format: 'completions', baseUrl: 'http://127.0.0.1:11434/v1', dialect: { include_usage: true, prompts: 'one' } },
    // Ollama takes texts only: "invalid input type".
    { format: 'embeddings', baseUrl: 'http://127.0.0.1:11434/v1', dialect: { tokens: false } },
  ],
}

/**
 * vLLM on this machine. Chat templates turn thinking on and off ("Reasoning Outputs", docs.vllm.ai, read on
 * 2026-11-28). It refuses files: "Unsupported chat content part type" (vllm 0.33.0, read on 2026-12-01).
 */
export const vllm: Preset = {
  name: 'vllm',
  env: [],
  keyless: true,
  formats: [
    {
      format: 'chat',
      baseUrl: 'http://127.0.0.1:8000/v1',
      dialect: { ...LOCAL_CHAT, reasoning_as: 'chat_template_kwargs', files: false },
    },
    { format: 'responses', baseUrl: 'http://127.0.0.1:8000/v1', dialect: { ...LOCAL_RESPONSES, files: false } },
    { format: 'completions', baseUrl: 'http://127.0.0.1:8000/v1', dialect: NO_SUFFIX },
    ...openaiFormats('http://127.0.0.1:8000/v1', ['embeddings']),
    // vLLM reads `top_n` and ignores unknown fields (`RerankRequest`, github.com/vllm-project/vllm).
    { format: 'rerank', baseUrl: 'http://127.0.0.1:8000/v1', dialect: { top_field: 'top_n' } },
    { format: 'transcriptions', baseUrl: 'http://127.0.0.1:8000/v1', dialect: { transcript_shapes: 'json' } },
    { format: 'images', baseUrl: 'http://127.0.0.1:8000/v1', dialect: { edits: 'form' } },
  ],
}

/**
 * LM Studio on this machine. It refuses choices that name a tool (lmstudio-bug-tracker#670), the format `json_object`
 * (LoadShine/tada#16) and images by their URLs (#1120). Its Responses and Messages refuse more: namespaces (#1810),
 * tools without properties (#2254), images in results (#1590), so that Chat Completions serve all callers. Read on
 * 2026-12-01.
 */
export const lmStudio: Preset = {
  name: 'lm-studio',
  env: [],
  keyless: true,
  formats: [
    {
      format: 'chat',
      baseUrl: 'http://127.0.0.1:1234/v1',
      dialect: {
        ...{ ...LOCAL_CHAT, reasoning_field: 'none', ...BYTES_OF_IMAGES },
        ...{ tool_choices: 'modes', json_object: false, schemas: 'grammar' },
      },
    },
    ...openaiFormats('http://127.0.0.1:1234/v1', ['completions', 'embeddings']),
  ],
}

/**
 * The server of llama.cpp on this machine. It reads a choice that names a tool as `auto`, and refuses files
 * ("unsupported content[].type"). Its Responses refuse files and reasoning of others (llama.cpp#23465, #28737), so that
 * Chat Completions serve all callers (`tools/server` in llama-cpp-python 0.3.36, read on 2026-12-01).
 */
export const llamaCpp: Preset = {
  name: 'llama-cpp',
  env: [],
  keyless: true,
  formats: [
    {
      format: 'chat',
      baseUrl: 'http://127.0.0.1:8080/v1',
      dialect: {
        ...{ ...LOCAL_CHAT, reasoning_field: 'reasoning_content', reasoning_as: 'chat_template_kwargs' },
        ...{ tool_choices: 'modes', files: false, schemas: 'grammar' },
      },
    },
    { format: 'completions', baseUrl: 'http://127.0.0.1:8080/v1', dialect: NO_SUFFIX },
    ...openaiFormats('http://127.0.0.1:8080/v1', ['embeddings']),
    { format: 'rerank', baseUrl: 'http://127.0.0.1:8080/v1', dialect: { top_field: 'top_n' } },
  ],
}

/** An upstream that is described entirely by its operator. */
export const custom: Preset = { name: 'custom', env: [], keyless: true, betas: 'allow', formats: [] }

/** The provider that answers from recordings. Gets its URL when it starts. */
export const replay: Preset = {
  name: 'replay',
  env: [],
  keyless: true,
  betas: 'allow',
  models: ['replay'],
  formats: [
    'chat',
    'responses',
    'messages',
    'contents',
    'interactions',
    'converse',
    'cohere-chat',
    'embeddings',
    'completions',
    'rerank',
    'cohere',
    'images',
    'speech',
    'transcriptions',
    'videos',
    'realtime',
  ].map(format => ({
    format,
    auth: 'none',
  })),
}

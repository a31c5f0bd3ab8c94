/** Presets by Portkey's provider name (src/globals.ts of its gateway, read on 2026-11-28). */
export const PRESETS: { readonly [provider: string]: string } = {
  ...{ openai: 'openai', anthropic: 'anthropic', google: 'google', 'x-ai': 'xai', deepseek: 'deepseek', groq: 'groq' },
  ...{ 'mistral-ai': 'mistral', 'together-ai': 'together', cerebras: 'cerebras', 'z-ai': 'zai', moonshot: 'moonshot' },
  ...{ dashscope: 'dashscope', minimax: 'minimax', openrouter: 'openrouter', cohere: 'cohere', voyage: 'voyage' },
  ...{ jina: 'jina', ollama: 'ollama', huggingface: 'huggingface', deepgram: 'deepgram' },
}

/** Addresses of Portkey's providers that differ from those of the presets. Keys are valid at one of the two only. */
export const ADDRESSES: { readonly [provider: string]: string } = { moonshot: 'https://api.moonshot.cn/v1' }

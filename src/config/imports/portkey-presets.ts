/** Presets by Portkey's provider name (src/globals.ts of its gateway, read on 2026-11-28). */
export const PRESETS: { readonly [provider: string]: string } = {
  ...{ openai: 'openai', anthropic: 'anthropic', google: 'google', 'x-ai': 'xai', deepseek: 'deepseek', groq: 'groq' },
  ...{ 'mistral-ai': 'mistral', 'together-ai': 'together', cerebras: 'cerebras', 'z-ai': 'zai', moonshot: 'moonshot' },
  ...{ dashscope: 'dashscope', minimax: 'minimax', openrouter: 'openrouter', cohere: 'cohere', voyage: 'voyage' },
  ...{ jina: 'jina', ollama: 'ollama', huggingface: 'huggingface', deepgram: 'deepgram' },
}

/** Addresses of Portkey's providers that differ from those of the presets. Keys are valid at one of the two only. */
export const ADDRESSES: { readonly [provider: string]: string } = { moonshot: 'https://api.moonshot.cn/v1' }

/**
 * Addresses of providers without a preset, which offer Chat Completions there (src/providers of Portkey's gateway, read
 * on 2026-11-30).
 */
export const COMPATIBLE: { readonly [provider: string]: string } = {
  '302ai': 'https://api.302.ai/v1',
  cometapi: 'https://api.cometapi.com/v1',
  deepinfra: 'https://api.deepinfra.com/v1/openai',
  'featherless-ai': 'https://api.featherless.ai/v1',
  'fireworks-ai': 'https://api.fireworks.ai/inference/v1',
  github: 'https://models.inference.ai.azure.com',
  hyperbolic: 'https://api.hyperbolic.xyz/v1',
  'inference-net': 'https://api.inference.net/v1',
  lambda: 'https://api.lambdalabs.com/v1',
  lingyi: 'https://api.lingyiwanwu.com/v1',
  nebius: 'https://api.studio.nebius.ai/v1',
  'novita-ai': 'https://api.novita.ai/v3/openai/v1',
  nscale: 'https://inference.api.nscale.com/v1',
  ovhcloud: 'https://oai.endpoints.kepler.ai.cloud.ovh.net/v1',
  'perplexity-ai': 'https://api.perplexity.ai',
  sambanova: 'https://api.sambanova.ai/v1',
  siliconflow: 'https://api.siliconflow.cn/v1',
  upstage: 'https://api.upstage.ai/v1/solar',
  zhipu: 'https://open.bigmodel.cn/api/paas/v4',
}

/** Providers whose paths Portkey appends with `/v1` to the host of a target. */
export const BELOW_V1: ReadonlySet<string> = new Set([
  ...['302ai', 'deepseek', 'hyperbolic', 'lingyi', 'moonshot', 'novita-ai', 'ollama', 'openrouter', 'sambanova'],
  'together-ai',
])

/** Providers with formats of their own, which are no Chat Completions at the host of a target. */
export const OTHER_FORMATS: ReadonlySet<string> = new Set([
  ...['ai21', 'bytez', 'cortex', 'huggingface', 'lepton', 'meshy', 'milvus', 'nomic', 'oracle', 'palm'],
  ...['predibase', 'qdrant', 'recraft-ai', 'reka-ai', 'replicate', 'sagemaker', 'segmind', 'stability-ai'],
  ...['tripo3d', 'triton', 'workers-ai'],
])

/**
 * Providers of LiteLLM for which no other table of the import has a row (`provider_list` and `providers.json` of version
 * 1.108.7, read on 2026-11-30). They offer Chat Completions at the address of an entry.
 */
export const OTHER_PROVIDERS: ReadonlySet<string> = new Set([
  ...['abliteration', 'ai21', 'ai21_chat', 'aihubmix', 'aiml', 'aiohttp_openai', 'amazon_nova', 'apertis'],
  ...['assemblyai', 'baseten', 'bedrock_mantle', 'bespoke', 'charity_engine', 'chutes', 'cloudflare', 'codestral'],
  ...['cognition', 'cometapi', 'compactifai', 'coralbricks', 'cortecs', 'crusoe', 'darkbloom', 'databricks'],
  ...['deepinfra', 'docker_model_runner', 'dotprompt', 'edenai', 'empiriolabs', 'empower', 'featherless_ai'],
  ...['fireworks_ai', 'friendliai', 'galadriel', 'github', 'gmi', 'helicone', 'heroku', 'hyperbolic', 'inception'],
  ...['inferenceapis', 'infinity', 'lambda_ai', 'laya', 'lemonade', 'libertai', 'litellm_agent', 'llamagate'],
  ...['maritalk', 'meta', 'meta_llama', 'modelscope', 'mongodb', 'morph', 'nadir', 'nano-gpt', 'nebius'],
  ...['neosantara', 'novita', 'nscale', 'nvidia_nim', 'oobabooga', 'ovhcloud', 'parasail', 'perplexity'],
  ...['pinstripes', 'poe', 'prism', 'publicai', 'qwen_ai_platform', 'qwencloud', 'reka', 'sail', 'sambanova'],
  ...['sarvam', 'scaleway', 'scx-ai', 'strands_decider', 'synthetic', 'tencent', 'tensormesh', 'typesafe', 'v0'],
  ...['valkey', 'veniceai', 'vercel_ai_gateway', 'volcengine', 'wandb', 'xiaomi_mimo'],
])

/**
 * Addresses of providers without a preset, each with the variable of the key (`get_llm_provider` and `llms` of version
 * 1.80, read on 2026-11-30). LiteLLM takes them for entries without an address.
 */
export const USUAL_ADDRESSES: { readonly [prefix: string]: readonly [address: string, key: string] } = {
  aiml: ['https://api.aimlapi.com/v1', 'AIML_API_KEY'],
  deepinfra: ['https://api.deepinfra.com/v1/openai', 'DEEPINFRA_API_KEY'],
  featherless_ai: ['https://api.featherless.ai/v1', 'FEATHERLESS_API_KEY'],
  fireworks_ai: ['https://api.fireworks.ai/inference/v1', 'FIREWORKS_API_KEY'],
  friendliai: ['https://api.friendli.ai/serverless/v1', 'FRIENDLI_TOKEN'],
  github: ['https://models.inference.ai.azure.com', 'GITHUB_API_KEY'],
  hyperbolic: ['https://api.hyperbolic.xyz/v1', 'HYPERBOLIC_API_KEY'],
  lambda_ai: ['https://api.lambda.ai/v1', 'LAMBDA_API_KEY'],
  meta_llama: ['https://api.llama.com/compat/v1', 'LLAMA_API_KEY'],
  nebius: ['https://api.studio.nebius.ai/v1', 'NEBIUS_API_KEY'],
  novita: ['https://api.novita.ai/v3/openai', 'NOVITA_API_KEY'],
  nvidia_nim: ['https://integrate.api.nvidia.com/v1', 'NVIDIA_NIM_API_KEY'],
  perplexity: ['https://api.perplexity.ai', 'PERPLEXITYAI_API_KEY'],
  sambanova: ['https://api.sambanova.ai/v1', 'SAMBANOVA_API_KEY'],
  vercel_ai_gateway: ['https://ai-gateway.vercel.sh/v1', 'VERCEL_AI_GATEWAY_API_KEY'],
  volcengine: ['https://ark.cn-beijing.volces.com/api/v3', 'VOLCENGINE_API_KEY'],
}

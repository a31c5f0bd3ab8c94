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

/*
 * Names of settings and providers in the configs of other gateways and SDKs, which operators write from memory. Sources:
 * the documented configs of LiteLLM, Portkey, Bifrost, TensorZero, Envoy AI Gateway and Kong, November 2026.
 */

/** Settings of other programs, and what to write instead. */
interface Foreign {
  /** A field that only the map in question has. */
  readonly beside: string
  readonly names: readonly string[]
  readonly instead: string
}

const FOREIGN_SETTINGS: readonly Foreign[] = [
  {
    beside: 'data_dir',
    names: ['model_list', 'litellm_settings', 'router_settings', 'general_settings', 'litellm_params'],
    instead: 'this is a config of LiteLLM: `interlingua import litellm FILE` converts it',
  },
  { beside: 'data_dir', names: ['providers', 'upstreams', 'backends', 'targets'], instead: 'write "channels"' },
  { beside: 'data_dir', names: ['virtual_keys', 'api_keys', 'users', 'consumers'], instead: 'write "keys"' },
  { beside: 'data_dir', names: ['teams'], instead: 'write "groups"' },
  { beside: 'data_dir', names: ['database', 'database_url'], instead: 'write "store"' },
  { beside: 'data_dir', names: ['port', 'host', 'workers', 'tls'], instead: 'write it below "server"' },
  {
    beside: 'data_dir',
    names: ['fallbacks'],
    instead: 'write "fallbacks" below the model in "models", or in a group',
  },
  {
    beside: 'data_dir',
    names: ['aliases', 'model_aliases', 'model_group_alias'],
    instead: 'write aliases in "models" of a channel, as a map of public name to name at the upstream',
  },
  { beside: 'provider', names: ['api_base', 'api_url', 'endpoint', 'url', 'host'], instead: 'write "base_url"' },
  { beside: 'provider', names: ['api_key', 'apiKey', 'token', 'secret'], instead: 'write "key"' },
  { beside: 'provider', names: ['api_keys'], instead: 'write "keys"' },
  { beside: 'provider', names: ['type', 'vendor', 'kind'], instead: 'write "provider"' },
  { beside: 'provider', names: ['location'], instead: 'write "region"' },
  {
    beside: 'provider',
    names: ['rpm', 'tpm', 'concurrent'],
    instead: 'it is a limit of a key: write `keys: [{ key: …, rpm: … }]`',
  },
  {
    beside: 'provider',
    names: ['fallback', 'fallbacks'],
    instead: 'write "fallbacks" below the model in "models"; other channels of a model replace this one by themselves',
  },
  {
    beside: 'provider',
    names: ['aliases', 'model_mapping', 'alias'],
    instead: 'write "models" as a map of public name to name at the upstream',
  },
  { beside: 'first_byte', names: ['request', 'total', 'read', 'response'], instead: 'write "whole" or "first_byte"' },
  {
    beside: 'context',
    names: ['aliases', 'alias'],
    instead: 'write aliases in "models" of a channel, as a map of public name to name at the upstream',
  },
  { beside: 'context', names: ['context_window', 'max_input_tokens'], instead: 'write "context"' },
  { beside: 'context', names: ['max_output_tokens', 'max_tokens'], instead: 'write "max_output"' },
  { beside: 'cache_read', names: ['prompt', 'input_cost_per_token'], instead: 'write "input", per million tokens' },
  {
    beside: 'cache_read',
    names: ['completion', 'output_cost_per_token'],
    instead: 'write "output", per million tokens',
  },
  { beside: 'on_loss', names: ['rpm_limit', 'rate_limit', 'requests_per_minute'], instead: 'write "rpm"' },
  { beside: 'on_loss', names: ['tpm_limit', 'tokens_per_minute'], instead: 'write "tpm"' },
  { beside: 'on_loss', names: ['max_budget'], instead: 'write "budget", as in `budget: { day: 5, month: 100 }`' },
  { beside: 'on_loss', names: ['max_parallel_requests'], instead: 'write "concurrent"' },
  { beside: 'expires', names: ['team', 'team_id'], instead: 'write "group"' },
]

/** Returns what to write instead of a setting of another gateway, or undefined. */
export const insteadOf = (name: string, known: object): string | undefined =>
  FOREIGN_SETTINGS.find(({ beside, names }) => Object.hasOwn(known, beside) && names.includes(name))?.instead

/** Providers under the names of LiteLLM, Portkey, Bifrost and the AI SDK. Those that sign in differently are left out. */
export const FOREIGN_PROVIDERS: ReadonlyMap<string, string> = new Map([
  ['azure', 'azure-openai'],
  ['azure_ai', 'azure-foundry'],
  ['gemini', 'google'],
  ['google-ai', 'google'],
  ['google_ai_studio', 'google'],
  ['vertex_ai', 'vertex'],
  ['vertex-ai', 'vertex'],
  ['google-vertex', 'vertex'],
  ['claude', 'anthropic'],
  ['aws-bedrock', 'bedrock'],
  ['amazon-bedrock', 'bedrock'],
  ['qwen', 'dashscope'],
  ['alibaba', 'dashscope'],
  ['kimi', 'moonshot'],
  ['glm', 'zai'],
  ['grok', 'xai'],
  ['hosted_vllm', 'vllm'],
  ['openai-compatible', 'custom'],
  ['openai_compatible', 'custom'],
  ['openai_like', 'custom'],
])

/** Returns the provider that other gateways call by this name, or undefined. */
export const providerCalled = (name: string): string | undefined => FOREIGN_PROVIDERS.get(name.toLowerCase())

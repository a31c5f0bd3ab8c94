import { rowOf } from '../../canonical/maps.ts'
import { defined, type JsonObject } from '../../canonical/node.ts'
import {
  FORMAT_FACTS,
  isMixed,
  OPENAI_RESPONSES_MODELS,
  PRESETS as PROVIDERS,
  URL_VERSION,
} from '../../formats/index.ts'
import { COMPATIBLE_FORMATS, isVendorAddress, objectOf, textOf, vendorAt } from './draft.ts'
import { CLOUDS, FOUNDRY, isConversation } from './litellm-clouds.ts'
import { OTHER_PROVIDERS, USUAL_ADDRESSES } from './litellm-providers.ts'
import { orderOf } from './litellm-ranks.ts'
import { type Account, amountOf, baseAddressOf, keyFields, numberOf, settingOf, variable } from './litellm-settings.ts'
import { unread } from './watched.ts'

/** Presets by LiteLLM's model prefix, for providers that need only a key. */
const PRESETS: { readonly [prefix: string]: string } = {
  ...{ openai: 'openai', 'text-completion-openai': 'openai', anthropic: 'anthropic', gemini: 'google', xai: 'xai' },
  ...{ deepseek: 'deepseek', mistral: 'mistral', groq: 'groq', together_ai: 'together', cerebras: 'cerebras' },
  ...{ zai: 'zai', moonshot: 'moonshot', dashscope: 'dashscope', minimax: 'minimax', elevenlabs: 'elevenlabs' },
  ...{ deepgram: 'deepgram', huggingface: 'huggingface', openrouter: 'openrouter', cohere: 'cohere' },
  ...{ cohere_chat: 'cohere', voyage: 'voyage', jina_ai: 'jina', ollama: 'ollama', ollama_chat: 'ollama' },
  ...{ vllm: 'vllm', hosted_vllm: 'vllm' },
}

/** Prefixes of upstreams that offer Chat Completions at the address in `api_base`. */
const COMPATIBLE: ReadonlySet<string> = new Set([
  ...['openai', 'custom_openai', 'openai_like', 'litellm_proxy', 'lm_studio', 'llamafile', 'xinference'],
])

/** Formats by LiteLLM's model mode. An entry without one may do any work, because LiteLLM goes by the caller's path. */
const FORMATS: { readonly [mode: string]: readonly string[] } = {
  ...{ chat: ['chat'], completion: ['completions'], embedding: ['embeddings'], rerank: ['rerank'] },
  ...{ image_generation: ['images'], audio_speech: ['speech'], audio_transcription: ['transcriptions'] },
  ...{ responses: ['responses', 'chat'], realtime: ['realtime'] },
}

/**
 * Returns the account of an entry, or the reason why there is none. Reads only parameters that the channel uses,
 * because unread ones are reported.
 *
 * @param mode the work of the model.
 */
export function accountOf(params: JsonObject, info: JsonObject, mode: string | undefined): Account | string {
  const modelText = textOf(params['model'])
  if (modelText === undefined) return 'litellm_params.model is missing'
  if (modelText.startsWith('os.environ/'))
    return `its model is the variable ${modelText.slice('os.environ/'.length)}, which decides the provider, too: write the name itself`
  if (modelText === '*' && textOf(params['custom_llm_provider']) === undefined)
    return 'each request names its provider: write a channel with `models: { "PROVIDER/*": "*" }` for each of them'
  const deployment = settingOf(params['deployment_id'])
  const { prefix, model } =
    deployment === undefined
      ? partsOf(modelText, textOf(params['custom_llm_provider']))
      : { prefix: 'azure', model: deployment }
  const cloud = rowOf(CLOUDS, prefix)?.(params, model, mode)
  const account = cloud ?? plainAccount(prefix, model, params, info)
  return typeof account === 'string'
    ? account
    : { ...account, fields: { ...account.fields, ...limitsOf(params, info) } }
}

/** Parameters that decide where requests go, or with which credential. */
const DESTINATIONS: ReadonlySet<string> = new Set([
  ...['litellm_credential_name', 'api_key', 'api_base', 'base_url', 'azure_ad_token', 'azure_username'],
  ...['aws_role_name', 'aws_web_identity_token', 'aws_bedrock_runtime_endpoint', 'aws_sts_endpoint'],
  ...['anthropic_federation_rule_id', 'anthropic_identity_source', 'anthropic_identity_token'],
  ...['anthropic_identity_token_file', 'openai_identity_provider_id', 'openai_identity_token_file'],
  ...['token_exchange_endpoint', 'use_xai_oauth', 'mock_response'],
])

/** Parameters with texts that decide where requests go, or for whom they are billed. */
const TEXTS = [
  ...['api_key', 'api_base', 'base_url', 'organization', 'api_version', 'tenant_id', 'client_id', 'client_secret'],
  ...['aws_access_key_id', 'aws_secret_access_key', 'aws_session_token', 'aws_region_name', 'aws_profile_name'],
  ...['vertex_project', 'vertex_ai_project', 'vertex_location', 'vertex_ai_location', 'deployment_id'],
] as const

/** Matches a reference to a variable whose name the config cannot have. Containers allow such names. */
const ODD_VARIABLE = /^\s*os\.environ\/(?!\w+$)/

/**
 * Returns the reason why the parameters of an entry lead nowhere: one should be a text and is none, such as a key in
 * digits, which LiteLLM refuses; or it names a variable that the config cannot. A channel would use the key or the
 * account of the environment instead, or send the name itself.
 */
export function wrongDestination(params: JsonObject): string | undefined {
  const wrong = TEXTS.find(field => (params[field] ?? '') !== '' && typeof params[field] !== 'string')
  if (wrong !== undefined) return `litellm_params.${wrong} is not a text`
  const headers = HEADERS.flatMap(field => Object.entries(objectOf(params[field])))
  const [odd] =
    [...Object.entries(params), ...headers].find(([, value]) => ODD_VARIABLE.test(textOf(value) ?? '')) ?? []
  return odd === undefined
    ? undefined
    : `${odd} names a variable that the config cannot: names have letters, digits and underscores only`
}

/**
 * Returns a parameter that decides where the requests of an entry go and that its account does not use. A key beside the
 * secret of an Entra client is not needed.
 *
 * @param params the watched parameters.
 */
export const lostDestination = (params: JsonObject, written: JsonObject): string | undefined =>
  unread(params).find(
    field =>
      DESTINATIONS.has(field) &&
      ![false, null, ''].includes(written[field] as false | null | '') &&
      !(field === 'api_key' && Object.hasOwn(params, 'client_secret')),
  )

/**
 * Splits a model into its provider and its name. If there is no provider, the name alone decides, as in LiteLLM. A first
 * part that is no provider of LiteLLM belongs to the name that the upstream at the entry's address has.
 */
function partsOf(
  modelText: string,
  providerName: string | undefined,
): { readonly prefix: string; readonly model: string } {
  if (providerName !== undefined) return { prefix: providerName, model: modelText.replace(`${providerName}/`, '') }
  const slash = modelText.indexOf('/')
  const prefix = modelText.slice(0, Math.max(0, slash))
  if (slash > 0) return { prefix, model: isProvider(prefix) ? modelText.slice(slash + 1) : modelText }
  const [named] = Object.entries(BY_NAME).find(([, pattern]) => pattern.test(modelText)) ?? ['openai']
  return { prefix: named, model: modelText }
}

const isProvider = (prefix: string): boolean =>
  [PRESETS, CLOUDS].some(rows => Object.hasOwn(rows, prefix)) ||
  [COMPATIBLE, OTHER_FORMATS, OTHER_PROVIDERS].some(names => names.has(prefix))

/** Patterns of names without a provider, as LiteLLM knows them (`get_llm_provider`, read on 2026-11-30). */
const BY_NAME: { readonly [prefix: string]: RegExp } = {
  bedrock:
    /^(?:(?:us|eu|apac|au|ca|in|jp|us-gov|global)\.)?(?:ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|moonshotai|nvidia|openai|qwen|stability|twelvelabs|writer|zai)\.|^claude-.*-v\d+:\d+$/,
  anthropic: /^claude/,
  vertex_ai: /^(?:gemini|medlm|multimodalembedding|text-embedding-\d{3}$|text-multilingual-embedding|text-unicorn)/,
  cohere: /^(?:command|rerank|embed)-/,
  'text-completion-openai': /^(?:ft:)?(?:babbage|davinci)-002|^gpt-3\.5-turbo-instruct/,
}

/** Prefix of models whose requests LiteLLM sends to the Responses API. */
const RESPONSES = 'responses/'

/** Prefixes of upstreams with formats of their own, which are no Chat Completions at the entry's address. */
const OTHER_FORMATS: ReadonlySet<string> = new Set([
  ...['a2a', 'a2a_agent', 'anthropic_text', 'auto_router', 'aws_polly', 'aws_textract', 'azure_speech', 'azure_text'],
  ...['black_forest_labs', 'bytez', 'chatgpt', 'clarifai', 'cursor', 'custom', 'databricks_agent', 'datarobot'],
  ...['fal_ai', 'gdc', 'gigachat', 'github_copilot', 'gradient_ai', 'humanloop', 'langflow', 'langfuse', 'langgraph'],
  ...['manus', 'microsoft_365_copilot', 'milvus', 'nlp_cloud', 'nvidia_riva', 'oci', 'petals', 'pg_vector'],
  ...['predibase', 'ragflow', 'recraft', 'reducto', 'replicate', 'runwayml', 's3_vectors', 'sagemaker'],
  ...['sagemaker_chat', 'sagemaker_nova', 'sap', 'scaledown', 'snowflake', 'soniox', 'stability'],
  ...['text-completion-codestral', 'text-completion-inception', 'topaz', 'transcribe', 'triton', 'vertex_ai_beta'],
  ...['watsonx', 'watsonx_text'],
])

/** Matches an address that ends with the version that a channel of Gemini requests, and a variable, which may. */
const AT_VERSION = /\/v1beta$|\}$/

/** Matches the path of one task of Cohere at the end of an address. */
const COHERE_TASK = /\/v[12]\/(?:chat|embed|rerank)$/

/** Matches the path of vectors or rankings at the end of an address. */
const VECTORS_TASK = /\/(?:embeddings|rerank)$/

/**
 * Paths of one task that LiteLLM does not append again to the addresses of a provider (`get_complete_url` of version
 * 1.108.7, read on 2026-12-01).
 */
const TASKS: { readonly [prefix: string]: RegExp } = {
  ...{ cohere: COHERE_TASK, cohere_chat: COHERE_TASK, azure_ai: VECTORS_TASK, dashscope: VECTORS_TASK },
  ...{ fireworks_ai: VECTORS_TASK, hosted_vllm: VECTORS_TASK, infinity: VECTORS_TASK, jina_ai: VECTORS_TASK },
  ...{ perplexity: VECTORS_TASK, sambanova: VECTORS_TASK, voyage: VECTORS_TASK },
}

/** Returns the address of an entry to which the paths of all tasks of its provider are appended. */
const statedAddress = (prefix: string, params: JsonObject): string | undefined =>
  baseAddressOf(params)?.replace(rowOf(TASKS, prefix) ?? '', '')

/** Prefixes whose paths LiteLLM appends with `/v1` to an address without it. */
const BELOW_V1: ReadonlySet<string> = new Set([
  ...['cometapi', 'heroku', 'huggingface', 'minimax', 'mistral', 'ollama', 'ollama_chat', 'oobabooga'],
])

function plainAccount(prefix: string, model: string, params: JsonObject, info: JsonObject): Account | string {
  if (model.startsWith(RESPONSES)) {
    const account = plainAccount(prefix, model.slice(RESPONSES.length), params, info)
    return typeof account === 'string' ? account : { ...account, fields: { ...account.fields, formats: ['responses'] } }
  }
  if (prefix === 'perplexity' && model.startsWith('preset/')) return 'no channel states a preset of Perplexity’s agents'
  const stated = statedAddress(prefix, params)
  const address = stated ?? rowOf(ADDRESSES, prefix)
  const own = rowOf(PRESETS, prefix)
  if (address !== undefined && OTHER_FORMATS.has(prefix)) return `"${prefix}" has a format that no channel speaks`
  const only = defined({ formats: onlyFormats(prefix, model) })
  const note = defined({ note: stated === undefined || only.formats !== undefined ? rowOf(NOTES, prefix) : undefined })
  if (own !== undefined && (address === undefined || isVendorAddress(own, address)))
    return { provider: own, model: nameAt(prefix, model), fields: { ...keyFields(params), ...only }, ...note }
  if (prefix === 'gemini' && address !== undefined && !AT_VERSION.test(address))
    return 'channels of Gemini append `/v1beta` to the address, which LiteLLM does not'
  if (address !== undefined && (COMPATIBLE.has(prefix) || own === undefined))
    return compatible(prefix, params, info, model)
  const usual = rowOf(USUAL_ADDRESSES, prefix)
  if (usual !== undefined) return atUsualAddress(usual, prefix, params, info, model)
  if (own === undefined) return `there is no preset for "${prefix}": write a channel with provider: custom`
  const fields = { ...keyFields(params), ...addressFields(prefix, own, address!), ...only }
  return { provider: own, model: nameAt(prefix, model), fields, ...note }
}

/** Addresses of LiteLLM's providers that differ from those of the presets. Keys are valid at one of the two only. */
const ADDRESSES: { readonly [prefix: string]: string } = {
  dashscope: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
  hosted_vllm: variable('HOSTED_VLLM_API_BASE'),
}

const OLLAMA_ADDRESS = {
  field: 'api_base',
  text: `is missing: if OLLAMA_API_BASE is set, write \`base_url: ${variable('OLLAMA_API_BASE')}/v1\``,
}

/** Notes for entries without an address, by prefix. */
const NOTES: { readonly [prefix: string]: NonNullable<Account['note']> } = {
  'text-completion-openai': {
    field: 'model',
    text: 'serves /v1/completions only; LiteLLM also turns conversations into prompts',
  },
  dashscope: {
    field: 'api_base',
    text: 'is missing: earlier versions of LiteLLM take https://dashscope-intl.aliyuncs.com/compatible-mode/v1, where other keys are valid',
  },
  ollama: OLLAMA_ADDRESS,
  ollama_chat: OLLAMA_ADDRESS,
}

/** Returns the only formats of a model at its vendor, or undefined if it has all of them. */
function onlyFormats(prefix: string, model: string): readonly string[] | undefined {
  if (prefix === 'text-completion-openai') return ['completions']
  return prefix === 'openai' && OPENAI_RESPONSES_MODELS.test(model) ? ['responses'] : undefined
}

/** Returns the name by which the upstream of a prefix knows a model. */
function nameAt(prefix: string, model: string, mode?: string): string {
  if (prefix === 'azure_ai') return model.replace(/^model_router\//, '')
  if (prefix === 'cohere_chat' || prefix === 'cohere') return model.replace(/^v\d\//, '')
  // Names with a maker are those of models for vectors.
  const isShort = prefix === 'fireworks_ai' && isConversation(mode) && !/\/|#/.test(model)
  return isShort ? `accounts/fireworks/models/${model}` : model
}

/**
 * Returns the fields of a preset at an entry's own address, to which LiteLLM appends the path of Chat Completions. A
 * preset that also has formats with a version in their paths would add a version.
 */
function addressFields(prefix: string, provider: string, address: string): { [field: string]: unknown } {
  const messages = address.replace(/\/v1\/messages$/, '')
  if (messages !== address) return { base_url: messages }
  const base_url = withVersion(prefix, address)
  const formats = PROVIDERS.get(provider)!.formats.map(({ format }) => format)
  const isPlain =
    base_url === address && isMixed(formats) && !URL_VERSION.test(base_url) && !isVersionInPath(formats[0]!)
  return {
    base_url,
    ...(isPlain ? { formats: formats.filter(format => !isVersionInPath(format)) } : {}),
  }
}

const isVersionInPath = (format: string): boolean => FORMAT_FACTS.get(format)?.versioned === 'path'

const withVersion = (prefix: string, address: string): string =>
  BELOW_V1.has(prefix) && !address.endsWith('/v1') ? `${address}/v1` : address

/** Returns the account of an upstream at the address that LiteLLM knows, with the key of LiteLLM's variable. */
const atUsualAddress = (
  [base_url, key]: readonly [address: string, key: string],
  prefix: string,
  params: JsonObject,
  info: JsonObject,
  model: string,
): Account => ({
  provider: 'custom',
  model: nameAt(prefix, model, textOf(info['mode'])),
  fields: { ...keyFields(params, variable(key)), base_url, formats: formatsFor(info) },
})

/** Returns the formats for the work of a model that any upstream compatible with OpenAI may have. */
const formatsFor = (info: JsonObject): readonly string[] =>
  rowOf(FORMATS, textOf(info['mode']) ?? '') ?? COMPATIBLE_FORMATS

/** Returns the account of an upstream that is identified only by its address. */
function compatible(prefix: string, params: JsonObject, info: JsonObject, model: string): Account | string {
  const address = statedAddress(prefix, params)
  if (address === undefined) return 'api_base is missing'
  const isRanking = prefix === 'azure_ai' && (info['mode'] === 'rerank' || /rerank/i.test(model))
  const base_url = isRanking ? `${address.replace(/\/v1$/, '')}/v1` : withVersion(prefix, address)
  const formats = formatsFor(info)
  const vendor = vendorAt(base_url, formats)
  const key = keyVariable(prefix, base_url)
  const fields: { [field: string]: unknown } = keyFields(params, key ?? 'none')
  return {
    provider: vendor?.provider ?? 'custom',
    model: nameAt(prefix, model, textOf(info['mode'])),
    fields: { ...fields, ...(vendor?.fields ?? { base_url, formats }) },
    ...(fields['key'] === 'none' && !LOCAL.has(prefix) ? { note: noKey(prefix) } : {}),
  }
}

/** Providers of servers that mostly need no key. */
const LOCAL: ReadonlySet<string> = new Set([
  ...['docker_model_runner', 'infinity', 'lemonade', 'llamafile', 'lm_studio', 'oobabooga', 'xinference'],
])

/** Variables of keys that LiteLLM sends to any address of an entry, by prefix. */
const KEYS: { readonly [prefix: string]: string } = {
  ...{ openai: 'OPENAI_API_KEY', custom_openai: 'OPENAI_API_KEY', litellm_proxy: 'LITELLM_PROXY_API_KEY' },
  openai_like: 'OPENAI_LIKE_API_KEY',
}

/** Returns a reference to the variable of a key that belongs to an address, which is that of its vendor or resource. */
function keyVariable(prefix: string, address: string): string | undefined {
  if (prefix === 'azure_ai') return FOUNDRY.key
  const [usual, key] = rowOf(USUAL_ADDRESSES, prefix) ?? []
  return key !== undefined && address === usual ? variable(key) : undefined
}

/** Returns the note for an entry without a key at an address of its own, to which a vendor's key must not leak. */
function noKey(prefix: string): NonNullable<Account['note']> {
  const name = rowOf(KEYS, prefix) ?? rowOf(USUAL_ADDRESSES, prefix)?.[1]
  const text =
    name === undefined
      ? 'is missing, and LiteLLM may have it from the environment: write `key` if the upstream needs it'
      : `is missing, and LiteLLM sends ${name}: write \`key: ${variable(name)}\` if the upstream needs it`
  return { field: 'api_key', text }
}

function limitsOf(params: JsonObject, info: JsonObject): { [field: string]: unknown } {
  const [whole, first] = [numberOf(params['timeout']), numberOf(params['stream_timeout'])]
  const timeout = defined({ whole: whole && `${whole}s`, first_byte: first && `${Math.max(1, Math.ceil(first))}s` })
  return defined({
    headers: headersOf(params),
    weight: amountOf(params['weight']),
    priority: orderOf(params, info),
    max_concurrent: numberOf(params['max_parallel_requests']),
    timeout: Object.keys(timeout).length === 0 ? undefined : timeout,
  })
}

/** Parameters with headers of requests. */
export const HEADERS = ['headers', 'extra_headers'] as const

function headersOf(params: JsonObject): { [name: string]: unknown } | undefined {
  const organization = settingOf(params['organization'])
  const extra = HEADERS.flatMap(field => Object.entries(objectOf(params[field])))
  const headers = {
    ...Object.fromEntries(extra.map(([name, value]) => [name, settingOf(value) ?? value])),
    ...defined({ 'openai-organization': organization }),
  }
  return Object.keys(headers).length === 0 ? undefined : headers
}

import { rowOf } from '../../canonical/maps.ts'
import { defined, isObject, type JsonObject } from '../../canonical/node.ts'
import { withoutTrailingSlashes } from '../../canonical/text.ts'
import { COMPATIBLE_FORMATS, isVendorAddress, textOf } from './draft.ts'
import { unread } from './watched.ts'

/** The account and model of one entry of LiteLLM's `model_list`. */
export interface Account {
  readonly provider: string
  /** The upstream's name of the model. */
  readonly model: string
  /** Fields of the channel. */
  readonly fields: { [field: string]: unknown }
}

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
 */
export function accountOf(params: JsonObject, info: JsonObject): Account | string {
  const modelText = textOf(params['model'])
  if (modelText === undefined) return 'litellm_params.model is missing'
  if (modelText === '*' && textOf(params['custom_llm_provider']) === undefined)
    return 'each request names its provider: write a channel with `models: { "PROVIDER/*": "*" }` for each of them'
  const { prefix, model } = partsOf(modelText, textOf(params['custom_llm_provider']))
  const cloud = rowOf(CLOUDS, prefix)?.(params, model)
  const account = cloud ?? plainAccount(prefix, model, params, info)
  return typeof account === 'string' ? account : { ...account, fields: { ...account.fields, ...limitsOf(params) } }
}

/** Parameters that decide where requests go, or with which credential. */
const DESTINATIONS: ReadonlySet<string> = new Set([
  ...['litellm_credential_name', 'api_key', 'api_base', 'base_url', 'azure_ad_token'],
  ...['aws_role_name', 'aws_web_identity_token', 'aws_bedrock_runtime_endpoint', 'aws_sts_endpoint'],
])

/**
 * Returns a parameter that decides where the requests of an entry go and that its account does not use. A key beside the
 * secret of an Entra client is not needed.
 */
export const lostDestination = (params: JsonObject): string | undefined =>
  unread(params).find(
    field => DESTINATIONS.has(field) && !(field === 'api_key' && Object.hasOwn(params, 'client_secret')),
  )

/** Splits a model into its provider and its name. If there is no provider, the name alone decides, as in LiteLLM. */
function partsOf(
  modelText: string,
  providerName: string | undefined,
): { readonly prefix: string; readonly model: string } {
  if (providerName !== undefined) return { prefix: providerName, model: modelText.replace(`${providerName}/`, '') }
  const slash = modelText.indexOf('/')
  if (slash > 0) return { prefix: modelText.slice(0, slash), model: modelText.slice(slash + 1) }
  const [prefix] = Object.entries(BY_NAME).find(([, pattern]) => pattern.test(modelText)) ?? ['openai']
  return { prefix, model: modelText }
}

const BY_NAME = { anthropic: /^claude/, gemini: /^gemini/, cohere: /^(command|rerank|embed)-/ }

/** Returns the fields for AWS: a key of Bedrock, keys of AWS, a profile, or the default credential chain. */
function awsFields(params: JsonObject): { [field: string]: unknown } {
  const key = keyFields(params)
  if (Object.keys(key).length > 0) return defined({ region: settingOf(params['aws_region_name']), ...key })
  const secret = settingOf(params['aws_secret_access_key'])
  const auth =
    secret === undefined
      ? defined({ type: 'aws-default', profile: settingOf(params['aws_profile_name']) })
      : {
          ...{ type: 'aws-keys', access_key_id: settingOf(params['aws_access_key_id']), secret_access_key: secret },
          ...defined({ session_token: settingOf(params['aws_session_token']) }),
        }
  return defined({ region: settingOf(params['aws_region_name']), auth })
}

function vertexFields(params: JsonObject): { [field: string]: unknown } {
  const credentials = settingOf(params['vertex_credentials'] ?? params['vertex_ai_credentials'])
  return defined({
    ...{
      project: settingOf(params['vertex_project'] ?? params['vertex_ai_project']),
      region: settingOf(params['vertex_location'] ?? params['vertex_ai_location']),
    },
    auth: credentials === undefined ? { type: 'google-default' } : serviceAccount(credentials),
  })
}

/** Returns the account of a key file: by its name, or by its content. */
const serviceAccount = (credentials: string): object => ({
  type: 'google-service-account',
  ...(credentials.trimStart().startsWith('{') ? { account: credentials } : { file: credentials }),
})

/** Returns a reference to an environment variable in the syntax of the config. */
const variable = (name: string): string => `\${${name}}`

/** Environment variables that LiteLLM reads for Azure. */
const AZURE_KEY = variable('AZURE_API_KEY')
const AZURE_ADDRESS = variable('AZURE_API_BASE')

/** Returns the fields for Azure: a key, or an Entra client. */
function azureFields(params: JsonObject): { [field: string]: unknown } {
  const secret = settingOf(params['client_secret'])
  const client = (): object => ({ tenant: settingOf(params['tenant_id']), client_id: settingOf(params['client_id']) })
  return defined({
    ...(secret === undefined
      ? keyFields(params, AZURE_KEY)
      : { auth: { type: 'azure-client', ...client(), client_secret: secret } }),
    base_url: addressOf(params) ?? AZURE_ADDRESS,
    api_version: settingOf(params['api_version']),
  })
}

/** Functions that return cloud accounts, by LiteLLM's prefix. */
const CLOUDS: { readonly [prefix: string]: (params: JsonObject, model: string) => Account | string } = {
  bedrock: (params, model) => {
    const [, region, name] = /^(?:converse\/|invoke\/)?(?:([a-z]{2}(?:-[a-z]+)+-\d)\/)?(.*)$/s.exec(model)!
    // The id of a model is that of its provisioned throughput or inference profile.
    const id = settingOf(params['model_id']) ?? name!
    return { provider: 'bedrock-converse', model: id, fields: defined({ region, ...awsFields(params) }) }
  },
  vertex_ai: (params, model) => ({
    ...{
      provider: model.includes('claude') ? 'vertex-claude' : 'vertex',
      model,
      fields: vertexFields(params),
    },
  }),
  azure: (params, model) =>
    model === ''
      ? 'the deployment is missing: write its name'
      : { provider: 'azure-deployments', model: model.replace(RESPONSES, ''), fields: azureFields(params) },
  azure_ai: (params, model) =>
    model.includes('claude')
      ? { provider: 'azure-foundry', model, fields: azureFields(params) }
      : compatible(params, {}, model),
}

/** Prefix of models whose requests LiteLLM sends to the Responses API. */
const RESPONSES = 'responses/'

function plainAccount(prefix: string, model: string, params: JsonObject, info: JsonObject): Account | string {
  if (model.startsWith(RESPONSES)) {
    const account = plainAccount(prefix, model.slice(RESPONSES.length), params, info)
    return typeof account === 'string' ? account : { ...account, fields: { ...account.fields, formats: ['responses'] } }
  }
  const address = addressOf(params)
  const own = rowOf(PRESETS, prefix)
  if (own !== undefined && isVendorAddress(own, address)) return { provider: own, model, fields: keyFields(params) }
  if (address !== undefined && (COMPATIBLE.has(prefix) || own === undefined)) return compatible(params, info, model)
  if (own === undefined) return `there is no preset for "${prefix}": write a channel with provider: custom`
  const suffix = prefix.startsWith('ollama') ? '/v1' : ''
  const base_url = address === undefined ? undefined : address.replace(/\/v1(\/messages)?$/, '') + suffix
  return { provider: own, model, fields: defined({ ...keyFields(params), base_url }) }
}

/** Returns the account of an upstream that is identified only by its address. */
function compatible(params: JsonObject, info: JsonObject, model: string): Account | string {
  const address = addressOf(params)
  if (address === undefined) return 'api_base is missing'
  const fields = { ...keyFields(params, 'none'), base_url: address }
  return {
    provider: 'custom',
    model,
    fields: { ...fields, formats: rowOf(FORMATS, textOf(info['mode']) ?? '') ?? COMPATIBLE_FORMATS },
  }
}

function addressOf(params: JsonObject): string | undefined {
  const address = settingOf(params['api_base'] ?? params['base_url'])
  return address === undefined ? undefined : withoutTrailingSlashes(address)
}

/**
 * Returns the key, with its limits if there are any. Without a key, the channel uses its provider's environment
 * variable.
 */
function keyFields(params: JsonObject, fallback?: string): { [field: string]: unknown } {
  const key = settingOf(params['api_key']) ?? fallback
  if (key === undefined) return {}
  // Only keys have limits. Without a key, the limits stay unread and are therefore reported.
  if (key === 'none') return { key }
  const limits = defined({ rpm: numberOf(params['rpm']), tpm: numberOf(params['tpm']) })
  return Object.keys(limits).length === 0 ? { key } : { keys: [{ key, ...limits }] }
}

function limitsOf(params: JsonObject): { [field: string]: unknown } {
  const [whole, first] = [numberOf(params['timeout']), numberOf(params['stream_timeout'])]
  const timeout = defined({ whole: whole && `${whole}s`, first_byte: first && `${Math.max(1, Math.ceil(first))}s` })
  return defined({
    headers: headersOf(params),
    weight: numberOf(params['weight']),
    priority: numberOf(params['order']),
    max_concurrent: numberOf(params['max_parallel_requests']),
    timeout: Object.keys(timeout).length === 0 ? undefined : timeout,
  })
}

function headersOf(params: JsonObject): { [name: string]: unknown } | undefined {
  const organization = settingOf(params['organization'])
  const extra = Object.entries(isObject(params['extra_headers']) ? params['extra_headers'] : {})
  const headers = {
    ...Object.fromEntries(extra.map(([name, value]) => [name, settingOf(value) ?? value])),
    ...defined({ 'openai-organization': organization }),
  }
  return Object.keys(headers).length === 0 ? undefined : headers
}

/** Returns a positive number, which may be written as a string. */
export const numberOf = (value: unknown): number | undefined => {
  const number = typeof value === 'string' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) && number > 0 ? number : undefined
}

/** Returns a text. LiteLLM's references to environment variables are replaced by `${NAME}`. */
export const settingOf = (value: unknown): string | undefined =>
  textOf(value)?.replace(/^os\.environ\/(\w+)$/, '$${$1}')

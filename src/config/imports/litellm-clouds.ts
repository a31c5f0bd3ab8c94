import { defined, isObject, type JsonObject } from '../../canonical/node.ts'
import { OPENAI_RESPONSES_MODELS } from '../../formats/index.ts'
import { objectOf } from './draft.ts'
import { type Account, addressOf, baseAddressOf, keyFields, settingOf, variable } from './litellm-settings.ts'

/*
 * Cloud accounts of LiteLLM's entries (its `llms/bedrock`, `llms/vertex_ai`, `llms/azure` and `llms/azure_ai`, read on
 * 2026-11-30).
 */

/** Returns the account of an entry, the reason why there is none, or undefined if it is that of an address. */
type ReadAccount = (params: JsonObject, model: string, mode: string | undefined) => Account | string | undefined

/** Functions that return cloud accounts, by LiteLLM's prefix. */
export const CLOUDS: { readonly [prefix: string]: ReadAccount } = {
  bedrock: bedrockAccount,
  vertex_ai: vertexAccount,
  azure: (params, model) => azureAccount(params, model, AZURE),
  azure_ai: foundryAccount,
}

/**
 * Matches a model of Bedrock: a route, a region, the family of an imported model, and the name. Converse needs neither
 * route nor family.
 */
const BEDROCK_MODEL = /^(?:converse\/|invoke\/)?(?:([a-z]{2}(?:-[a-z]+)+-\d)\/)?(?:[\w-]+\/(?=arn:))?(.*)$/s

/** Routes of Bedrock with formats of their own. */
const BEDROCK_ROUTES = /^(?:agent|agentcore|async_invoke)\//

/** Models of Bedrock that hold no conversations. */
const BEDROCK_MEDIA = /embed|rerank|canvas|reel|sonic|titan-image|stability\./

/** Work of models in conversations. */
const CONVERSATIONS: ReadonlySet<string | undefined> = new Set([undefined, 'chat', 'completion', 'responses'])

/** Returns true for the work of a model in conversations, which is the default. */
export const isConversation = (mode: string | undefined): boolean => CONVERSATIONS.has(mode)

function bedrockAccount(params: JsonObject, model: string, mode: string | undefined): Account | string {
  if (BEDROCK_ROUTES.test(model)) return 'no channel speaks the format of Bedrock’s agents and asynchronous calls'
  if (BEDROCK_MEDIA.test(model) || !CONVERSATIONS.has(mode)) return 'channels of Bedrock do conversations only'
  const isMantle = model.startsWith('mantle/')
  const [, region, name] = BEDROCK_MODEL.exec(isMantle ? model.slice('mantle/'.length) : model)!
  // The id of a model is that of its provisioned throughput or inference profile.
  const id = settingOf(params['model_id']) ?? name!
  const [, regionOfId] = /^arn:[\w-]+:bedrock:([a-z]{2}(?:-[a-z]+)+-\d):/.exec(id) ?? []
  const fields = defined({ region: region ?? regionOfId, ...awsFields(params) })
  return { provider: isMantle ? 'bedrock-mantle' : 'bedrock-converse', model: id, fields }
}

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

/** Models of other makers, tuned models, and media models, which Vertex AI serves at endpoints of their own. */
const VERTEX_OTHERS =
  /\/|^\d+$|^(?:ai21|chat-bison|chirp|code-|codechat|codestral|imagen|jamba|medlm|ministral|mistral|mixtral|multimodalembedding|text-(?:bison|unicorn)|veo)/

function vertexAccount(params: JsonObject, model: string): Account | string {
  if (VERTEX_OTHERS.test(model))
    return 'channels of Vertex AI serve conversations of Gemini and Claude, and vectors of Google only'
  const fields = vertexFields(params)
  const { file } = objectOf(fields['auth'])
  return {
    ...{ provider: model.includes('claude') ? 'vertex-claude' : 'vertex', model, fields },
    ...(typeof file === 'string' && file.startsWith('$') ? { note: NAME_OR_TEXT } : {}),
  }
}

/** LiteLLM takes the name of a key file or its text. */
const NAME_OR_TEXT = {
  field: 'vertex_credentials',
  text: 'is the name of a key file here: if the variable has its text, write `account` in place of `file`',
}

/** Location of Vertex AI that LiteLLM takes for an entry without one. */
const DEFAULT_LOCATION = 'us-central1'

function vertexFields(params: JsonObject): { [field: string]: unknown } {
  const written = params['vertex_credentials'] ?? params['vertex_ai_credentials']
  const credentials = isObject(written) ? JSON.stringify(written) : settingOf(written)
  return defined({
    ...{
      project: settingOf(params['vertex_project'] ?? params['vertex_ai_project']),
      region: settingOf(params['vertex_location'] ?? params['vertex_ai_location']) ?? DEFAULT_LOCATION,
    },
    auth: credentials === undefined ? { type: 'google-default' } : serviceAccount(credentials),
  })
}

/** Returns the account of a key file: by its name, or by its content. */
const serviceAccount = (credentials: string): object => ({
  type: 'google-service-account',
  ...(credentials.trimStart().startsWith('{') ? { account: credentials } : { file: credentials }),
})

/** Environment variables that LiteLLM reads for a provider. */
interface Variables {
  readonly key: string
  readonly address: string
}

const AZURE: Variables = { key: variable('AZURE_API_KEY'), address: variable('AZURE_API_BASE') }

/** Variables of `azure_ai` (`azure_ai/common_utils.py` of version 1.108.7, read on 2026-12-01). */
export const FOUNDRY: Variables = { key: variable('AZURE_AI_API_KEY'), address: variable('AZURE_AI_API_BASE') }

/** Versions for which LiteLLM takes Azure's current API. */
const CURRENT_VERSIONS: ReadonlySet<string> = new Set(['v1', 'preview', 'latest'])

/** Host of Cloudflare's gateway, whose addresses end with the name of the resource. */
const CLOUDFLARE = /^https:\/\/gateway\.ai\.cloudflare\.com\//

/** Prefix of deployments whose requests LiteLLM sends to the Responses API. */
const RESPONSES = 'responses/'

/** Matches names of Cohere and Mistral. LiteLLM takes Chat Completions at the entry's address for them. */
const SERVERLESS =
  /^(?:c4ai-|command-|open-mistral-nemo$|mistral-(?:tiny|small|medium|large)(?:-(?:latest|\d[\d.-]*))?$|(?:codestral|devstral|magistral|ministral|pixtral)-.*(?:latest|\d{4})$)/

function azureAccount(params: JsonObject, model: string, variables: Variables): Account | string {
  if (model === '') return 'the deployment is missing: write its name'
  if (SERVERLESS.test(model)) return serverlessAccount(params, model)
  if (model.startsWith('speech/')) return 'no channel speaks the format of Azure’s speech service'
  const { address, deployment: ofAddress } = deploymentIn(addressOf(params) ?? variables.address)
  if (CLOUDFLARE.test(address)) return 'no channel has the paths of Cloudflare’s gateway in front of Azure'
  // Prefixes that state the family of a deployment are for LiteLLM alone.
  const deployment = ofAddress ?? model.replace(/^(?:o_series|gpt5_series|responses)\//, '')
  if (model.startsWith(RESPONSES) || OPENAI_RESPONSES_MODELS.test(deployment))
    return azureCurrent(params, deployment, variables, ['responses'])
  if (CURRENT_VERSIONS.has(settingOf(params['api_version']) ?? '')) return azureCurrent(params, deployment, variables)
  const fields = { ...azureFields(params, variables), base_url: address }
  return { provider: 'azure-deployments', model: deployment, fields }
}

/** Returns the account of an endpoint that serves one model, whose name there has LiteLLM's prefix. */
function serverlessAccount(params: JsonObject, model: string): Account | string {
  const base_url = baseAddressOf(params)
  if (base_url === undefined) return 'api_base is missing'
  const fields = { ...keyFields(params, 'none'), base_url, formats: ['chat'] }
  return { provider: 'custom', model: `azure/${model}`, fields }
}

/** Splits an address into that of the resource and the deployment that its path may name. */
function deploymentIn(address: string): { readonly address: string; readonly deployment?: string } {
  const [, resource, deployment] = /^(.*)\/openai\/deployments\/([^/?]+)(?:\/chat\/completions)?$/.exec(address) ?? []
  return deployment === undefined ? { address } : { address: resource!, deployment }
}

/** Returns an account at Azure's current API, which has its version in the path (`/openai/v1`) instead of a date. */
function azureCurrent(params: JsonObject, model: string, variables: Variables, formats?: readonly string[]): Account {
  const { api_version: _, base_url, ...fields } = azureFields(params, variables)
  const resource = deploymentIn(String(base_url)).address.replace(/\/openai(?:\/v1)?$/, '')
  const address = `${resource}/openai/v1`
  const text = `is followed by \`/openai/v1\` here: the variable must not end with a slash`
  return {
    ...{ provider: 'azure-openai', model, fields: { ...fields, base_url: address, ...defined({ formats }) } },
    ...(address.startsWith('$') ? { note: { field: 'api_base', text } } : {}),
  }
}

/** Returns the fields for Azure: a key, or an Entra client. */
function azureFields(params: JsonObject, variables: Variables): { [field: string]: unknown } {
  const secret = settingOf(params['client_secret'])
  const scope = (): object => defined({ scope: settingOf(params['azure_scope']) })
  const client = (): object => ({ tenant: settingOf(params['tenant_id']), client_id: settingOf(params['client_id']) })
  return defined({
    ...(secret === undefined
      ? keyFields(params, variables.key)
      : { auth: { type: 'azure-client', ...client(), client_secret: secret, ...scope() } }),
    base_url: addressOf(params) ?? variables.address,
    api_version: settingOf(params['api_version']),
  })
}

/** Host of Foundry, which serves all of its models with Azure's current API. */
const FOUNDRY_HOST = /^https:\/\/[^/]+\.services\.ai\.azure\.com$/

/** Address of Foundry's own format, which serves models of OpenAI, too. */
const FOUNDRY_MODELS = /\.services\.ai\.azure\.com\b(?!.*\/openai\/deployments)/

/** Matches models of OpenAI, which LiteLLM takes for deployments. */
const OPENAI_NAMES = /^(?:gpt-(?:\d|audio)|chatgpt-|o\d(?:-|$)|text-embedding-(?:3|ada)|computer-use-preview)/

function foundryAccount(params: JsonObject, model: string, mode: string | undefined): Account | string | undefined {
  if (/^(?:agents|doc-intelligence)\/|^flux/i.test(model)) return 'no channel speaks the format of this model'
  if (model.toLowerCase().includes('claude')) return claudeAccount(params, model)
  const address = addressOf(params)
  if (address === undefined || mode === 'rerank') return undefined
  if (FOUNDRY_HOST.test(address))
    return azureCurrent(params, model.replace(/^model_router\//, ''), FOUNDRY, ['chat', 'embeddings'])
  return OPENAI_NAMES.test(model) && !FOUNDRY_MODELS.test(address) ? azureAccount(params, model, FOUNDRY) : undefined
}

/** Matches the path of Claude, which LiteLLM appends if it is missing. */
const CLAUDE_PATH = /\/anthropic(?=\/|$)/

/** Returns the account of Claude in Foundry. A channel appends the path of Claude. */
function claudeAccount(params: JsonObject, model: string): Account | string {
  const { api_version: _, base_url, ...fields } = azureFields(params, FOUNDRY)
  const address = String(base_url).split(CLAUDE_PATH, 1)[0]!
  if (address.endsWith('/v1/messages'))
    return 'channels of Claude in Foundry append `/anthropic/v1/messages` to the address, which LiteLLM does not'
  const text = 'is followed by `/anthropic` here: the variable must not end with it'
  return {
    ...{ provider: 'azure-foundry', model, fields: { ...fields, base_url: address } },
    ...(address.startsWith('$') ? { note: { field: 'api_base', text } } : {}),
  }
}

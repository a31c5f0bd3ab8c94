import { PLAIN_CHAT } from '../dialects/chat.ts'
import type { MessagesDialect } from '../dialects/messages.ts'
import type { ResponsesDialect } from '../dialects/responses.ts'
import type { Preset } from '../preset.ts'
import { OPENAI_FUNCTION_MODELS } from '../responses-models.ts'
import { AZURE_FAMILIES, AZURE_IMAGES, OPENAI_EMBEDDINGS, OPENAI_HISTORY } from './makers.ts'

/*
 * Presets of clouds that host other vendors' models. Hosts and paths are taken from the vendors' SDKs
 * (@anthropic-ai/bedrock-sdk 1.1, aws-sdk 1.1, vertex-sdk 1.1, foundry-sdk 1.1, read on 2026-11-28).
 */

const AWS_REGION = { env: ['AWS_REGION', 'AWS_DEFAULT_REGION'] } as const
const CLAUDE_MODELS = /claude/i
/** Servers that refuse the fields of previews that they do not know, and media by their URLs. */
const HOSTED = { preview_fields: false, fetch_urls: true } as const satisfies MessagesDialect
/**
 * Neither of Bedrock's endpoints runs Claude's hosted tools: "tool type ... is not supported for this model"
 * (pydantic-ai#11481 and #11513, pydantic-ai 2.68, read on 2026-12-01).
 */
const BEDROCK_CLAUDE = { ...HOSTED, hosted_tools: 'none' } as const satisfies MessagesDialect
const OTHER_MODELS = /^(?!.*claude)/is

/**
 * Creates the preset of a Bedrock service that serves each vendor's own format.
 *
 * @param below path of OpenAI's formats under `baseUrl`.
 * @param responses the dialect of its Responses.
 */
const bedrockService = (name: string, baseUrl: string, below: string, responses: ResponsesDialect): Preset => ({
  name,
  env: ['AWS_BEARER_TOKEN_BEDROCK'],
  variables: { region: AWS_REGION },
  cloud: { name: 'aws', service: name },
  formats: [
    {
      format: 'messages',
      baseUrl,
      below: '/anthropic',
      auth: 'bearer',
      servedModels: CLAUDE_MODELS,
      dialect: BEDROCK_CLAUDE,
    },
    { format: 'responses', baseUrl, below, servedModels: OTHER_MODELS, dialect: responses },
    {
      ...{ format: 'chat', baseUrl, below, servedModels: OTHER_MODELS, functionModels: OPENAI_FUNCTION_MODELS },
      dialect: { ...PLAIN_CHAT, include_usage: true },
    },
  ],
})

/**
 * Bedrock's runtime endpoint (docs.aws.amazon.com/bedrock, "Endpoints supported by model"). Its Responses run no hosted
 * tools ("web search is not supported for this request") and take images as bytes only (LiteLLM 1.110.2,
 * `bedrock/responses`, read on 2026-12-01).
 */
export const bedrock = bedrockService('bedrock', 'https://bedrock-runtime.{region}.{aws-domain}', '/openai/v1', {
  ...{ hosted_tools: 'none', fetch_urls: true },
})

/**
 * Bedrock's own format, for all of its models (docs.aws.amazon.com/bedrock, "API keys" and "Converse", read on
 * 2026-11-28).
 */
export const bedrockConverse: Preset = {
  name: 'bedrock-converse',
  env: ['AWS_BEARER_TOKEN_BEDROCK'],
  variables: { region: AWS_REGION },
  cloud: { name: 'aws', service: 'bedrock' },
  formats: [{ format: 'converse', baseUrl: 'https://bedrock-runtime.{region}.{aws-domain}' }],
}

/** Claude on Bedrock via InvokeModel, for models and inference profiles without a messages endpoint. */
export const bedrockInvoke: Preset = {
  name: 'bedrock-invoke',
  env: ['AWS_BEARER_TOKEN_BEDROCK'],
  variables: { region: AWS_REGION },
  cloud: { name: 'aws', service: 'bedrock' },
  formats: [
    {
      ...{ format: 'messages', baseUrl: 'https://bedrock-runtime.{region}.{aws-domain}', auth: 'bearer' },
      ...{
        hosting: 'bedrock-invoke',
        errors: 'converse',
        dialect: { ...BEDROCK_CLAUDE, service_tiers: false, bedrock: true },
      },
    },
  ],
}

/** Bedrock's newer endpoint. */
export const bedrockMantle = bedrockService(
  'bedrock-mantle',
  'https://bedrock-mantle.{region}.{aws-api-domain}',
  '/v1',
  {},
)

/** Claude on AWS, operated by Anthropic. Every request specifies a workspace. */
export const claudeAws: Preset = {
  name: 'claude-aws',
  env: ['ANTHROPIC_AWS_API_KEY'],
  variables: { region: AWS_REGION, workspace: { env: ['ANTHROPIC_AWS_WORKSPACE_ID'] } },
  cloud: { name: 'aws', service: 'aws-external-anthropic' },
  betas: 'allow',
  formats: [
    {
      ...{ format: 'messages', baseUrl: 'https://aws-external-anthropic.{region}.{aws-api-domain}', auth: 'bearer' },
      ...{ headers: { 'anthropic-workspace-id': '{workspace}' }, dialect: { cache: 'auto' } },
    },
  ],
}

const GOOGLE_PROJECT = { env: ['GOOGLE_CLOUD_PROJECT', 'ANTHROPIC_VERTEX_PROJECT_ID'] } as const
const GOOGLE_REGION = { env: ['GOOGLE_CLOUD_LOCATION', 'CLOUD_ML_REGION'], default: 'global' } as const

/** Gemini on Google Cloud. */
export const vertex: Preset = {
  name: 'vertex',
  env: [],
  variables: { region: GOOGLE_REGION, project: GOOGLE_PROJECT },
  cloud: { name: 'google' },
  formats: [
    {
      ...{ format: 'contents', baseUrl: 'https://{vertex-host}/v1' },
      ...{ below: '/projects/{project}/locations/{region}/publishers/google', auth: 'bearer' },
      dialect: { vertex: true },
    },
  ],
}

/** Gemini on Google Cloud with an API key for express mode, which needs no project. */
export const vertexExpress: Preset = {
  name: 'vertex-express',
  env: ['GOOGLE_VERTEX_API_KEY'],
  formats: [
    {
      ...{ format: 'contents', baseUrl: 'https://aiplatform.googleapis.com/v1', below: '/publishers/google' },
      dialect: { vertex: true },
    },
  ],
}

/**
 * Claude on Google Cloud, with the model in the path and the version in the body. It runs web search, but refuses every
 * web fetch (pydantic-ai 2.68, read on 2026-12-01).
 */
export const vertexClaude: Preset = {
  name: 'vertex-claude',
  env: [],
  variables: { region: GOOGLE_REGION, project: GOOGLE_PROJECT },
  cloud: { name: 'google' },
  formats: [
    {
      ...{ format: 'messages', baseUrl: 'https://{vertex-host}/v1', auth: 'bearer', hosting: 'vertex-claude' },
      below: '/projects/{project}/locations/{region}/publishers/anthropic',
      dialect: { ...HOSTED, hosted_tools: 'search', service_tiers: false, cache: 'auto' },
    },
  ],
}

/** Azure's older API, with the deployment in the path (learn.microsoft.com/azure/foundry/openai/reference). */
export const azureDeployments: Preset = {
  name: 'azure-deployments',
  env: ['AZURE_OPENAI_API_KEY'],
  variables: {
    resource: { env: ['AZURE_OPENAI_RESOURCE'] },
    api_version: { env: ['OPENAI_API_VERSION'], default: '2024-10-21' },
  },
  cloud: { name: 'azure', scope: 'https://cognitiveservices.azure.com/.default' },
  formats: (['chat', 'embeddings', 'images', 'speech', 'transcriptions'] as const).map(format => ({
    ...{ format, baseUrl: 'https://{resource}.openai.azure.com', below: '/openai/deployments', auth: 'api-key' },
    ...{ hosting: 'azure-deployment', query: { 'api-version': '{api_version}' } },
    ...(format === 'chat'
      ? {
          functionModels: OPENAI_FUNCTION_MODELS,
          dialect: { ...OPENAI_HISTORY, include_usage: true },
          families: AZURE_FAMILIES,
        }
      : {}),
    ...(format === 'embeddings' ? { dialect: OPENAI_EMBEDDINGS } : {}),
    ...(format === 'images' ? { dialect: AZURE_IMAGES } : {}),
  })),
}

/**
 * Flags of Claude in Foundry, for deployments on Azure. They refuse schemas ("structured_outputs not supported in your
 * workspace", oh-my-pi#4679), searches ("server-side web search is not available in this environment", Claude Code
 * 2.1.282) and system turns (pydantic-ai 2.68). Read on 2026-12-01. Deployments at Anthropic take all of them.
 */
const AZURE_HOSTED = {
  ...{ strict_tools: false, json_schema: false, hosted_tools: 'none', system_turns: false },
} as const satisfies MessagesDialect

/** Claude in Microsoft Foundry. */
export const azureFoundry: Preset = {
  name: 'azure-foundry',
  env: ['ANTHROPIC_FOUNDRY_API_KEY'],
  variables: { resource: { env: ['ANTHROPIC_FOUNDRY_RESOURCE'] } },
  cloud: { name: 'azure', scope: 'https://ai.azure.com/.default' },
  betas: 'allow',
  formats: [
    {
      ...{ format: 'messages', baseUrl: 'https://{resource}.services.ai.azure.com', below: '/anthropic' },
      dialect: { ...AZURE_HOSTED, cache: 'auto' },
    },
  ],
}

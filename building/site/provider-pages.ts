import { stringify } from 'yaml'
import { defined, type JsonObject } from '../../src/canonical/node.ts'
import type { AuthStyle } from '../../src/formats/auth.ts'
import { FLAGS_OF } from '../../src/formats/dialects/index.ts'
import { FORMAT_FACTS, PRESETS } from '../../src/formats/index.ts'
import type { Preset, PresetFormat } from '../../src/formats/preset.ts'

/* Pages of docs/providers: one per preset, with everything that the preset says. */

/** Names of providers, as people search for them. */
const TITLES: { readonly [preset: string]: string } = {
  ...{ openai: 'OpenAI', anthropic: 'Anthropic', google: 'Google Gemini', 'azure-openai': 'Azure OpenAI', xai: 'xAI' },
  ...{ deepseek: 'DeepSeek', mistral: 'Mistral', groq: 'Groq', together: 'Together AI', cerebras: 'Cerebras' },
  ...{ fireworks: 'Fireworks AI', nvidia: 'NVIDIA' },
  ...{ zai: 'Z.AI (GLM)', moonshot: 'Moonshot AI (Kimi)', dashscope: 'Alibaba DashScope (Qwen)', minimax: 'MiniMax' },
  ...{ elevenlabs: 'ElevenLabs', deepgram: 'Deepgram', kling: 'Kling', huggingface: 'Hugging Face' },
  ...{ openrouter: 'OpenRouter', cohere: 'Cohere', voyage: 'Voyage AI', jina: 'Jina AI' },
  ...{ bedrock: 'Amazon Bedrock', 'bedrock-converse': 'Amazon Bedrock (Converse)' },
  ...{ 'bedrock-invoke': 'Amazon Bedrock (InvokeModel)', 'bedrock-mantle': 'Amazon Bedrock (Mantle)' },
  ...{ 'claude-aws': 'Claude on AWS', vertex: 'Google Vertex AI', 'vertex-express': 'Google Vertex AI (express mode)' },
  ...{ 'vertex-claude': 'Claude on Google Vertex AI', 'azure-deployments': 'Azure OpenAI (deployments)' },
  ...{ 'azure-foundry': 'Azure AI Foundry', ollama: 'Ollama', vllm: 'vLLM' },
  ...{ 'llama-cpp': 'llama.cpp', 'lm-studio': 'LM Studio' },
  ...{ custom: 'Other upstreams', replay: 'Recordings' },
}

/** Returns the name of a provider. */
export const titleOf = (preset: string): string => TITLES[preset] ?? preset

/** Returns a channel of the provider that `interlingua check` accepts once its variables are set. */
export function exampleChannel(preset: Preset): JsonObject {
  const { name, env, variables = {}, formats } = preset
  const parts = Object.entries(variables).map(([variable, source]) => [variable, source.default ?? PARTS[variable]!])
  const needsAddress = formats.some(({ baseUrl }) => baseUrl === undefined) && name !== 'replay'
  return defined({
    ...{ name, provider: name },
    formats: formats.length === 0 ? ['chat'] : undefined,
    base_url: needsAddress || formats.length === 0 ? addressFor(preset) : undefined,
    key: env[0] === undefined ? undefined : `\${${env[0]}}`,
    auth: env[0] === undefined && preset.cloud !== undefined ? SIGN_IN[preset.cloud.name] : undefined,
    ...Object.fromEntries(parts),
    models: ['*'],
  })
}

/** Values of the parts of an address. */
const PARTS: { readonly [variable: string]: string } = {
  ...{ region: 'eu-west-1', project: 'my-project', resource: 'my-resource', workspace: 'my-workspace' },
  api_version: '2024-10-21',
}

const addressFor = ({ addressSuffix }: Preset): string =>
  addressSuffix === undefined ? 'http://127.0.0.1:9000/v1' : `https://my-resource.openai.azure.com${addressSuffix}`

/** A sign-in that needs no file and no secret. */
const SIGN_IN = {
  ...{ aws: { type: 'aws-default' }, google: { type: 'google-metadata' }, azure: { type: 'azure-managed' } },
} as const

/** Returns the page of a provider. */
export function providerPage(preset: Preset): string {
  const title = titleOf(preset.name)
  return [
    `# ${title}`,
    `Claude Code, Codex, Gemini CLI, SDKs and other [clients](../clients.md) use ${title} through the gateway, each in its own format.`,
    `\`\`\`yaml\n${stringify({ channels: [exampleChannel(preset)] })}\`\`\``,
    keyText(preset),
    `Write this to \`interlingua.yaml\`, check it with \`interlingua check\`, and start the gateway ([start](../start.md)). \`interlingua doctor\` tries the key. \`models\` may also list names, or give models other names: \`{ smart: MODEL }\` ([settings](../settings.md#channels)).`,
    '## Formats',
    formatsText(preset),
    ...flagsText(preset),
  ].join('\n\n')
}

function keyText({ env, keyless, cloud, addressEnv, variables = {} }: Preset): string {
  const key = env.map(name => `\`${name}\``).join(' or ')
  const sentences = [
    key === ''
      ? ''
      : `Without a config, ${key} in the environment makes the same channel, and so does a channel without \`key\`.`,
    keyless === true ? 'No key is needed; `key` sets one.' : '',
    addressEnv === undefined ? '' : `\`${addressEnv}\` has the address if the channel has no \`base_url\`.`,
    ...Object.entries(variables).map(
      ([name, { env: names, default: usual }]) =>
        `\`${name}\` is ${names.map(one => `\`${one}\``).join(' or ')} by default${usual === undefined ? '' : `, else \`${usual}\``}.`,
    ),
    cloud === undefined ? '' : 'Instead of a key, `auth` signs in at the cloud ([clouds](../clouds.md)).',
  ]
  return sentences.filter(Boolean).join(' ')
}

const AUTH: { readonly [A in AuthStyle]: string } = {
  ...{ bearer: '`authorization: Bearer`', token: '`authorization: Token`', none: 'none' },
  ...{ 'x-api-key': '`x-api-key`', 'x-goog-api-key': '`x-goog-api-key`', 'api-key': '`api-key`' },
  ...{ 'xi-api-key': '`xi-api-key`', jwt: 'a signed token' },
}

function formatsText(preset: Preset): string {
  if (preset.formats.length === 0)
    return 'The channel names its `formats`, best first, and the address of each ([formats](../formats.md)).'
  const rows = preset.formats.map(row => formatRow(preset, row))
  const text = 'The best format comes first: a request in one of these formats passes without translation.'
  return `${text}\n\n| Format | Address | Key in |\n|---|---|---|\n${rows.join('\n')}`
}

function formatRow({ keyless }: Preset, { format, baseUrl, below = '', auth }: PresetFormat): string {
  const address = baseUrl === undefined ? 'the `base_url` of the channel' : `\`${baseUrl}${below}\``
  const sent = AUTH[auth ?? FORMAT_FACTS.get(format)!.auth]
  return `| ${format} | ${address} | ${keyless === true ? `${sent}, if there is one` : sent} |`
}

/** The dialect flags that the preset declares. */
function flagsText({ formats }: Preset): readonly string[] {
  const rows = formats.flatMap(({ format, dialect = {} }) =>
    Object.entries(dialect).map(([flag, value]) => {
      const known = FLAGS_OF[format]?.[flag]
      const meaning = known?.meaning ?? ''
      return `| ${format} | \`${flag}\` | \`${JSON.stringify(value)}\` | ${meaning} |`
    }),
  )
  if (rows.length === 0) return []
  const text =
    'Differences from the public description of each format, which the gateway obeys. `dialect` of the channel replaces them ([all flags](../dialects.md)).'
  return ['## Dialect', text, `| Format | Flag | Value | Meaning |\n|---|---|---|---|\n${rows.join('\n')}`]
}

/** Returns one row per provider: its key and its formats. */
export function providerTable(): string {
  const rows = [...PRESETS.values()].map(({ name, env, formats }) => {
    const key = env.map(one => `\`${one}\``).join(', ')
    return `| ${titleOf(name)} | \`${name}\` | ${key} | ${formats.map(({ format }) => format).join(', ')} |`
  })
  return `| Provider | \`provider:\` | Key by default | Formats, best first |\n|---|---|---|---|\n${rows.join('\n')}\n`
}

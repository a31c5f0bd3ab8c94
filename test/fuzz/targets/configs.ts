import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { isObject, type Json } from '../../../src/canonical/node.ts'
import { ConfigError } from '../../../src/config/faults.ts'
import { importConfig } from '../../../src/config/imports/index.ts'
import { readConfig } from '../../../src/config/read.ts'
import { warnings } from '../../../src/config/warnings.ts'
import { SECRETS } from '../oracles.ts'
import { Broken, type Target, type Watch } from '../target.ts'

/* Config files: the gateway's own, as text and as a value, and those of other gateways. */

const EXAMPLE = readFileSync('interlingua.example.yaml', 'utf8')

/** Sections of the example whose lines are comments there. */
const UNCOMMENTED = EXAMPLE.replace(/^( *)# ?(?=[\w-]+:|- \{)/gm, '$1')

/** Every variable has a value. Those of keys are secret. */
const ENV = new Proxy<NodeJS.ProcessEnv>(
  {},
  {
    get: (_, name) => (typeof name !== 'string' ? undefined : /KEY|SECRET|TOKEN/.test(name) ? SECRETS.key : undefined),
    has: (_, name) => /KEY|SECRET|TOKEN/.test(String(name)),
  },
)

/** Every variable has a value that fits its name. */
const ANY_ENV = new Proxy<NodeJS.ProcessEnv>(
  {},
  {
    get: (_, name) => (/URL|BASE|HOST|ENDPOINT/.test(String(name)) ? 'https://a.example.org' : 'value-of-the-variable'),
  },
)

function readOwn(text: string, watch: Watch): void {
  try {
    const config = readConfig(text, ENV)
    watch.returned(config)
    for (const warning of warnings(config)) watch.said(String(warning))
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown
    if (thrown.faults.length === 0) throw new Broken('faults', 'refused without a fault')
    for (const { line, message } of thrown.faults) {
      if (line === undefined || line < 1) throw new Broken('faults', `without a line: ${message}`)
      if (message === '') throw new Broken('faults', 'without a message')
    }
    watch.said(thrown.message)
  }
}

/**
 * Time that 100 kB may take, in milliseconds. Nearly all of it is the parser of YAML, and nobody but operators writes
 * these files.
 */
const TIME = 1000

const FILES = /^src\/config\/(?!imports|stored|watch|file\.ts|channel-yaml|objects)/

const OWN: readonly Target[] = [
  {
    name: 'config:text',
    inputs: 'texts of config files, in YAML',
    files: FILES,
    time: TIME,
    seeds: () => [EXAMPLE, UNCOMMENTED, ...EXAMPLE.split(/\n(?=\w)/), '{"channels":[{"provider":"openai"}]}'],
    run: (input, watch) => (typeof input === 'string' ? readOwn(input, watch) : undefined),
  },
  {
    name: 'config:value',
    inputs: 'values of config files',
    files: FILES,
    time: TIME,
    seeds: () => {
      const whole = parse(EXAMPLE) as { readonly [section: string]: Json }
      return [whole, ...Object.entries(whole).map(([section, value]) => ({ [section]: value }))]
    },
    run: (input, watch) => readOwn(JSON.stringify(input), watch),
  },
]

const { key } = SECRETS

/** Configs of other gateways, with a secret in each place that has one. */
const FOREIGN: { readonly [gateway: string]: readonly Json[] } = {
  litellm: [
    {
      model_list: [
        { model_name: 'small', litellm_params: { model: 'openai/gpt-5.6-mini', api_key: 'os.environ/OPENAI_API_KEY' } },
        { model_name: 'large', litellm_params: { model: 'claude-opus-4-8', api_key: key, rpm: 100, timeout: 30 } },
        {
          model_name: 'azure',
          litellm_params: { model: 'azure/x', api_base: 'https://x.openai.azure.com', api_key: key, api_version: '2' },
        },
        {
          model_name: 'bedrock',
          litellm_params: {
            ...{ model: 'bedrock/converse/amazon.nova-pro-v1:0', aws_region_name: 'us-east-1' },
            ...{ aws_access_key_id: 'os.environ/ID', aws_secret_access_key: key },
          },
        },
        { model_name: 'gemini/*', litellm_params: { model: 'gemini/*', api_key: key } },
        { model_name: 'vertex', litellm_params: { model: 'vertex_ai/gemini-3-pro', vertex_project: 'p' } },
        {
          model_name: 'vectors',
          litellm_params: { model: 'openai/bge', api_base: 'https://bge.example.org/v1', api_key: key },
          model_info: { mode: 'embedding', input_cost_per_token: 2e-8, max_input_tokens: 8192, id: 'a' },
        },
      ],
      router_settings: {
        ...{ routing_strategy: 'usage-based-routing-v2', num_retries: 2, redis_host: 'localhost', redis_password: key },
        fallbacks: [{ small: ['large'] }, { '*': ['small'] }],
        ...{ context_window_fallbacks: [{ small: ['large'] }], model_group_alias: { fast: 'small' } },
      },
      litellm_settings: { drop_params: true, cache: true, default_fallbacks: ['large'], request_timeout: 600 },
      general_settings: { master_key: key, database_url: `postgres://user:${key}@host/db` },
      environment_variables: { OPENAI_API_KEY: key },
    },
  ],
  'new-api': [
    {
      data: {
        items: [
          { id: 1, name: 'main', type: 1, key, models: 'gpt-5.6,gpt-5.6-mini', priority: 5, weight: 2, status: 1 },
          { id: 2, name: 'claude', type: 14, key: `${key}\n${key}2`, models: 'claude-opus-4-8', group: 'default,vip' },
          { id: 3, type: 3, key, base_url: 'https://x.openai.azure.com', other: '2024', models: 'x', status: 2 },
          { id: 4, type: 8, key, base_url: 'https://llm.example.org/v1', model_mapping: '{"a":"b"}', models: 'a' },
          { id: 5, type: 40, key, models: 'bge', setting: '{"proxy":"http://p"}', param_override: '{}' },
        ],
      },
    },
  ],
  'one-api': [
    {
      data: [
        { id: 1, name: 'main', type: 1, key, models: 'gpt-5.6', priority: 1, weight: 1, base_url: '', config: '{}' },
        { id: 2, name: 'glm', type: 16, key, models: 'glm-5', model_mapping: '{"a":"glm-5"}' },
        {
          id: 3,
          name: 'aws',
          type: 33,
          key: '',
          models: 'c',
          config: `{"region":"us-east-1","sk":"${key}","ak":"AK"}`,
        },
      ],
    },
  ],
  portkey: [
    {
      strategy: { mode: 'fallback', on_status_codes: [429, 503] },
      targets: [
        { provider: 'openai', api_key: key, override_params: { model: 'gpt-5.6' }, weight: 0.7 },
        { strategy: { mode: 'loadbalance' }, targets: [{ virtual_key: 'vk-1' }, { provider: '@prod/claude' }] },
        { provider: 'azure-openai', azure_resource_name: 'r', azure_deployment_id: 'd', azure_api_version: 'v' },
        { provider: 'bedrock', aws_access_key_id: 'AK', aws_secret_access_key: key, aws_region: 'us-east-1' },
        { provider: 'openai', custom_host: 'https://llm.example.org/v1', headers: { 'x-a': key } },
      ],
      ...{ retry: { attempts: 3 }, cache: { mode: 'simple' }, request_timeout: 1000 },
    },
    { integrations: [{ provider: 'openai', slug: 'main', credentials: { apiKey: key }, rate_limits: [{ value: 1 }] }] },
  ],
}

const imported = (gateway: string, text: string, watch: Watch): void => {
  try {
    const { text: config, notes } = importConfig(gateway, text, 'file.yaml')
    watch.returned(config)
    for (const note of notes) watch.quoted(JSON.stringify(note))
    readImported(config, watch)
  } catch (thrown) {
    // An import refuses with a plain error that names the file.
    if (!(thrown instanceof Error) || !thrown.message.startsWith('file.yaml ')) throw thrown
    watch.quoted(thrown.message)
  }
}

/** Reads the config that an import wrote. It is valid YAML, and its faults are those of values. */
function readImported(config: string, watch: Watch): void {
  watch.unmeasured(() => {
    if (!isObject(parse(config))) throw new Broken('import', 'wrote no map')
    try {
      readConfig(config, ANY_ENV)
    } catch (thrown) {
      if (!(thrown instanceof ConfigError)) throw thrown
      throw new Broken(
        'import',
        `wrote a config that is refused: ${thrown.faults[0]!.path}: ${thrown.faults[0]!.message}`,
      )
    }
  })
}

const IMPORTS: readonly Target[] = Object.entries(FOREIGN).flatMap(([gateway, seeds]): Target[] => [
  {
    name: `import:${gateway}`,
    inputs: `configs of ${gateway}, as values`,
    files: /^src\/config\/imports\//,
    time: TIME,
    seeds: () => [
      ...seeds,
      ...seeds.flatMap(seed => Object.entries(seed as object).map(([name, one]) => ({ [name]: one }))),
    ],
    run: (input, watch) => imported(gateway, JSON.stringify(input), watch),
  },
])

export const CONFIGS: readonly Target[] = [...OWN, ...IMPORTS]

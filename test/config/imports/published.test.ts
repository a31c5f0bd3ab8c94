import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { importConfig } from '../../../src/config/imports/index.ts'
import { readConfig } from '../../../src/config/read.ts'
import type { Config } from '../../../src/config/types.ts'
import { warnings } from '../../../src/config/warnings.ts'

/* Faults that the example configs of other gateways showed, each with a config of its own. */

const KEYS = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'MISTRAL_API_KEY', 'GROQ_API_KEY', 'GEMINI_API_KEY']

/** Reads an imported config as `check` does, with a value for each variable that it names. */
function read(text: string): Config {
  const named = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name!)
  const values = [...KEYS, ...named].map(
    name => [name, /BASE|HOST/.test(name) ? 'https://a.example.org' : 'v'] as const,
  )
  return readConfig(text, { AWS_REGION: 'eu-west-1', GOOGLE_CLOUD_PROJECT: 'p', ...Object.fromEntries(values) })
}

const importJson = (gateway: string, value: unknown) => importConfig(gateway, JSON.stringify(value), 'file')
const litellm = (config: object) => importJson('litellm', config)

const model = (model_name: string, params: object) => ({ model_name, litellm_params: params })
const OPENAI = model('small', { model: 'gpt-5.6-mini', api_key: 'os.environ/OPENAI_API_KEY' })
const CLAUDE = model('large', { model: 'anthropic/claude-opus-4-8', api_key: 'os.environ/ANTHROPIC_API_KEY' })

describe('a config of LiteLLM', () => {
  test.each([
    ['plain names', ['small', 'large']],
    ['rows of *', [{ '*': ['small', 'large'] }]],
    ['a map', { '*': ['small', 'large'] }],
  ])('has fallbacks for every model as %s', (_, fallbacks) => {
    const { text, notes } = litellm({ model_list: [OPENAI, CLAUDE], router_settings: { fallbacks } })
    const { groups, models } = read(text)
    expect(groups.get('default')!.fallbacks).toMatchObject([{ model: 'small' }, { model: 'large' }])
    expect([models.size, notes]).toEqual([0, []])
  })

  test('names a fallback for every model once', () => {
    const { text } = litellm({
      model_list: [OPENAI],
      litellm_settings: { default_fallbacks: ['small'], fallbacks: ['small', { '*': ['small'] }] },
    })
    expect(read(text).groups.get('default')!.fallbacks).toHaveLength(1)
  })

  const WILD = model('openai/*', { model: 'openai/*', api_key: 'os.environ/OPENAI_API_KEY' })

  test('has patterns with the names that callers and the upstream use', () => {
    const any = model('anthropic/*', { model: 'anthropic/claude-*', api_key: 'os.environ/ANTHROPIC_API_KEY' })
    const { text, notes } = litellm({ model_list: [CLAUDE, any, OPENAI, WILD] })
    const { channels } = read(text)
    expect(channels.map(({ models: { named, renamed } }) => [[...named], [...renamed!]])).toEqual([
      [[['large', 'claude-opus-4-8']], [['anthropic/*', 'claude-*']]],
      [[['small', 'gpt-5.6-mini']], [['openai/*', '*']]],
    ])
    expect(notes).toEqual([])
  })

  test.each([
    ['a name of another upstream', [CLAUDE, model('*', { model: 'openai/*', api_key: 'k' })], 1],
    ['a pattern of another upstream', [WILD, model('*', { model: 'groq/*', api_key: 'k' })], 1],
    ['many models under one name', [model('any', { model: 'openai/*', api_key: 'k' }), CLAUDE], 0],
  ])('never gets a channel with %s', (_, model_list, wide) => {
    const { text, notes } = litellm({ model_list })
    expect(notes.map(({ path }) => path.split('.')[0])).toEqual([`model_list[${wide}]`])
    expect(read(text).channels.map(({ provider }) => provider)).toEqual([
      wide === 0 || model_list[0] === CLAUDE ? 'anthropic' : 'openai',
    ])
    expect(read(text).channels.flatMap(({ models }) => models.patterns)).not.toContain('*')
  })

  test('keeps a pattern for every model where no other upstream is', () => {
    const { text } = litellm({
      model_list: [OPENAI, model('*', { model: 'openai/*', api_key: 'os.environ/OPENAI_API_KEY' })],
    })
    expect(read(text).channels[0]!.models).toMatchObject({ patterns: ['*'] })
  })

  test('adds fallbacks for every failure to a model that has some for one reason', () => {
    const { text } = litellm({
      model_list: [OPENAI, CLAUDE, model('other', { model: 'groq/x', api_key: 'k' })],
      router_settings: { model_group_alias: { second: 'small' } },
      litellm_settings: {
        ...{ default_fallbacks: ['other'], fallbacks: [{ large: ['small'] }] },
        context_window_fallbacks: [{ small: ['large'] }],
      },
    })
    const models = read(text).models
    const fallbacks = (id: string) => models.get(id)?.fallbacks?.map(row => [row.model, row.on.size === 1])
    for (const id of ['small', 'second'])
      expect(fallbacks(id)).toEqual([
        ['large', true],
        ['other', false],
      ])
    expect(fallbacks('large')).toEqual([
      ['small', false],
      ['other', false],
    ])
  })

  test('adds the fallbacks of fallbacks, which LiteLLM tries, too', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    const fallbacksAt = (settings: object) => {
      const model_list = names.map(name => model(name, { model: 'openai/x', api_key: name }))
      const { models, groups } = read(litellm({ model_list, router_settings: settings }).text)
      const rows = [...models].map(([name, { fallbacks = [] }]) => [name, fallbacks] as const)
      const shown = [...rows, ['*', groups.get('default')?.fallbacks ?? []] as const]
      return Object.fromEntries(
        shown.map(([name, all]) => [
          name,
          all.map(row => row.model + (row.on.size < 5 ? `:${[...row.on].join()}` : '')),
        ]),
      )
    }
    expect(fallbacksAt({ fallbacks: [{ a: ['b', 'c'] }, { b: ['d'] }, { d: ['a', 'e'] }] })).toMatchObject({
      ...{ a: ['b', 'd', 'e', 'c'], b: ['d', 'a', 'c', 'e'], d: ['a', 'b', 'c', 'e'] },
    })
    expect(fallbacksAt({ fallbacks: [{ a: ['b'] }, { c: ['d'] }], default_fallbacks: ['c'] })).toMatchObject({
      ...{ a: ['b', 'c', 'd'], c: ['d'], '*': ['c', 'd'] },
    })
    expect(
      fallbacksAt({ context_window_fallbacks: [{ a: ['b'] }, { b: ['c'] }], fallbacks: [{ b: ['d'] }, { a: ['c'] }] }),
    ).toMatchObject({ a: ['b:context', 'c', 'd:context'], b: ['c:context', 'd'] })
  })

  test('names the place of a limit of outputs', () => {
    const { notes } = litellm({ model_list: [model('a', { model: 'gpt-5.6', api_key: 'k', max_tokens: 9 })] })
    expect(notes[0]!.text).toContain('models: { "a": { max_output')
  })

  test('needs one error for an address that is not set', () => {
    const { text } = litellm({
      model_list: [model('a', { model: 'azure/d', api_key: 'k', api_version: '2024-10-21' })],
    })
    expect(() => readConfig(text, {})).toThrow(
      /^interlingua\.yaml:\d+: the environment variable AZURE_API_BASE is not set$/,
    )
  })

  describe('names every setting that it does not carry over', () => {
    const name = fc.constantFrom('small', 'large')
    const number = fc.integer({ min: 1, max: 1_000_000 })
    const some = (fields: { readonly [field: string]: fc.Arbitrary<unknown> }) =>
      fc.record(fields, { requiredKeys: [] })
    const any = fc.oneof(fc.string({ minLength: 1 }), fc.boolean(), number)
    const word = fc.stringMatching(/^[a-z][a-z0-9]{1,6}$/)
    const each = (value: fc.Arbitrary<unknown>, ...names: string[]) =>
      Object.fromEntries(names.map(one => [one, value]))
    const params = some({
      ...each(number, 'rpm', 'tpm', 'weight', 'order', 'timeout', 'stream_timeout', 'max_parallel_requests'),
      ...each(
        number,
        'max_tokens',
        'num_retries',
        'max_retries',
        'input_cost_per_token',
        'max_input_tokens',
        'cooldown_time',
      ),
      ...each(any, 'unheard', 'drop_params', 'mock_response'),
      ...each(word, 'api_version', 'vertex_project', 'aws_region_name', 'tenant_id'),
      api_key: fc.constantFrom('os.environ/OPENAI_API_KEY', 'secret-key'),
      api_base: fc.constant('https://a.example.org'),
      organization: fc.constant('org-1'),
    })
    const wire = fc.constantFrom(
      'gpt-5.6',
      'anthropic/claude-opus-4-8',
      'groq/x',
      'vertex_ai/g',
      'bedrock/b',
      'azure/d',
      'hosted_vllm/v',
    )
    const entry = fc.record({
      model_name: name,
      litellm_params: fc.tuple(params, wire).map(([more, one]) => ({ ...more, model: one })),
      model_info: some({
        ...each(any, 'id', 'base_model', 'unheard'),
        max_output_tokens: number,
        mode: fc.constant('embedding'),
      }),
    })
    const lists = fc.array(fc.record({ small: fc.constant(['large']) }), { minLength: 1, maxLength: 1 })
    const settings = {
      ...each(number, 'num_retries', 'allowed_fails', 'cooldown_time', 'retry_after'),
      ...each(any, 'enable_pre_call_checks', 'drop_params', 'set_verbose', 'telemetry', 'unheard', 'redis_port'),
    }
    const router = some({
      ...settings,
      ...{
        // Different from every other timeout, so that none is silent because another says the same.
        timeout: number.map(seconds => seconds + 10_000),
        routing_strategy: word,
        context_window_fallbacks: lists,
      },
      model_group_alias: fc.constantFrom({ alias: 'small' }, { alias: 'missing' }),
    })
    const proxy = some({
      ...settings,
      ...{ request_timeout: number.map(seconds => seconds + 20_000), default_fallbacks: fc.constant(['large']) },
    })
    const config = fc.record({
      model_list: fc.array(entry, { minLength: 1, maxLength: 2 }),
      ...{ router_settings: router, litellm_settings: proxy, general_settings: some(settings) },
    })

    /** Returns the paths of the leaves of a value: lists and maps of fallbacks are one. */
    const leavesOf = (value: unknown, path: string): string[] =>
      value === null || typeof value !== 'object' || /fallbacks$/.test(path)
        ? [path]
        : Object.entries(value).flatMap(([key, one]) =>
            leavesOf(one, Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`),
          )

    /** Returns a config without the value at a path, and without it in other entries that say the same. */
    const without = (value: object, path: string): object => {
      const copy = structuredClone(value) as { readonly model_list: readonly object[] }
      const steps = path.split(/[.[\]]+/).filter(Boolean)
      const [last, ...parents] = steps.toReversed()
      const parentIn = (root: object, names: readonly string[]): Record<string, unknown> | undefined =>
        names.reduce<Record<string, never> | undefined>((one, step) => one?.[step], root as never)
      const parent = parentIn(copy, parents.toReversed())!
      const removed = JSON.stringify(parent[last!])
      const twins = steps[0] === 'model_list' ? copy.model_list.map(one => parentIn(one, steps.slice(2, -1))) : []
      for (const one of [parent, ...twins]) if (one && JSON.stringify(one[last!]) === removed) delete one[last!]
      return copy
    }

    test('each leaf changes the config, or is in a note', () => {
      fc.assert(
        fc.property(config, one => {
          const { text, notes } = litellm(one)
          const body = (whole: string) => whole.replace(/^#.*\n/gm, '')
          const named = notes.map(({ path }) => path)
          const silent = leavesOf(one, '').filter(path => {
            const isNamed = named.some(
              note => path === note || path.startsWith(`${note}.`) || path.startsWith(`${note}[`),
            )
            return !isNamed && body(litellm(without(one, path)).text) === body(text)
          })
          expect(silent).toEqual([])
        }),
        { numRuns: 60 },
      )
    })
  })

  test('may have ports and timeouts as numbers, texts or variables', () => {
    const { text, notes } = litellm({
      model_list: [OPENAI],
      router_settings: { redis_host: 'r.example.org', redis_port: 6380, timeout: 'os.environ/TIMEOUT' },
      litellm_settings: { request_timeout: '45' },
    })
    expect(text).toContain('redis: redis://r.example.org:6380')
    expect(read(text).channels[0]!.timeout.whole).toBe(45_000)
    expect(notes.map(({ path }) => path)).toEqual(['router_settings.timeout'])
  })

  test.each(['p@ss/w#rd?', 'a:b@c', '100%', `\${HOME}`, 'ü ß'])(
    'may have the password %j for Redis',
    redis_password => {
      const { text } = litellm({
        model_list: [OPENAI],
        router_settings: { redis_host: 'r.example.org', redis_password },
      })
      const { hostname, password } = new URL(read(text).redis!)
      expect([hostname, decodeURIComponent(password)]).toEqual(['r.example.org', redis_password])
    },
  )

  test('has variables in headers', () => {
    const { text } = litellm({
      model_list: [
        model('small', {
          model: 'gpt-5.6',
          api_key: 'k',
          extra_headers: { 'x-token': 'os.environ/TEAM_TOKEN', 'x-a': 'b' },
        }),
      ],
    })
    expect(text).toContain(`x-token: \${TEAM_TOKEN}`)
    expect(read(text).channels[0]!.formats[0]!.headers).toMatchObject({ 'x-token': 'v', 'x-a': 'b' })
  })

  test('that is no YAML is an error with its name', () => {
    expect(() => importConfig('litellm', 'general_settings:\n  master_key: "\n', 'config.yaml')).toThrow(
      /^config\.yaml is neither YAML nor JSON: /,
    )
  })
})

const channel = (fields: object) => ({ id: 5, type: 1, status: 1, name: 'one', models: 'gpt-5.6', ...fields })

describe('a list of channels', () => {
  test('has a variable of its own for each hidden key, whatever the names are', () => {
    const names = ['硅基流动', '智谱', 'dup', 'dup', '2nd\n', '']
    const list = names.map((name, index) => channel({ id: index + 1, name }))
    const { text } = importJson('new-api', { data: { items: list } })
    expect([...text.matchAll(/key: \$\{(\w+)\}/g)].map(([, name]) => name)).toEqual([
      ...['CHANNEL_1_KEY', 'CHANNEL_2_KEY', 'DUP_KEY', 'DUP_2_KEY', '_2ND_KEY', 'CHANNEL_6_KEY'],
    ])
    expect(read(text).channels.map(({ name }) => name)).toEqual([
      '硅基流动',
      '智谱',
      'dup',
      'dup-2',
      '2nd',
      'channel-6',
    ])
  })

  test('has a variable of its own also for names that differ only in signs, whose keys are for different hosts', () => {
    const names = ['open ai', 'open-ai', 'Open.AI', 'open ai 2', 'channel 9', '硅基流动']
    const list = names.map((name, index) => channel({ id: index === 5 ? '9}-:' : index + 1, name }))
    const { text } = importJson('new-api', list)
    const variables = [...text.matchAll(/key: \$\{(\w+)\}/g)].map(([, name]) => name)
    expect(variables).toEqual([
      ...['OPEN_AI_KEY', 'OPEN_AI_2_KEY', 'OPEN_AI_3_KEY', 'OPEN_AI_2_2_KEY', 'CHANNEL_9_KEY', 'CHANNEL_9_2_KEY'],
    ])
  })

  test.each([
    ['new-api', { other: '2024-10-21' }],
    ['one-api', { other: '2023-05-15', config: '{"api_version":"2024-10-21"}' }],
    ['one-api', { config: '{"api_version":"2024-10-21"}' }],
  ])('of %s has accounts of Azure', (gateway, fields) => {
    const azure = channel({ ...fields, type: 3, name: 'azure', base_url: 'https://r.openai.azure.com/' })
    const { text } = importJson(gateway, [azure, channel({ type: 3, name: 'without' })])
    expect(text).toMatch(/base_url: https:\/\/r\.openai\.azure\.com\n +api_version: "?2024-10-21/)
    expect(read(text).channels.map(({ provider }) => provider)).toEqual(['azure-deployments'])
  })

  test.each([
    ['new-api', 8, 'https://a.example.org/v3/chat/completions', 'https://a.example.org/v3'],
    ['one-api', 8, 'https://a.example.org/', 'https://a.example.org/v1'],
    ['one-api', 50, 'https://a.example.org/v3/', 'https://a.example.org/v3'],
  ])('of %s has addresses of type %d as that program reads them', (gateway, type, base_url, expected) => {
    const { text } = importJson(gateway, [channel({ type, base_url })])
    expect(read(text).channels[0]!.formats[0]!.baseUrl).toBe(expected)
  })

  test('carries over headers, and notes what a channel has no field for', () => {
    const { text, notes } = importJson('new-api', [
      channel({
        ...{ openai_organization: 'org-1', header_override: '{"x-team":"a","x-key":"{client_header:x}"}' },
        ...{ param_override: '{"temperature":0}', setting: '{"force_format":true}', status_code_mapping: '{}' },
      }),
    ])
    expect(read(text).channels[0]!.formats[0]!.headers).toMatchObject({ 'x-team': 'a', 'openai-organization': 'org-1' })
    expect(notes.map(note => note.text.split(':')[0])).toEqual([
      ...['lists of channels hide the key', 'setting', 'header_override.x-key', 'param_override'],
    ])
  })
})

describe('a config of Portkey', () => {
  const portkey = (config: object) => importJson('portkey', config)

  test('has accounts at clouds', () => {
    const { text, notes } = portkey({
      strategy: { mode: 'fallback' },
      targets: [
        { provider: 'azure-openai', resource_name: 'r', deployment_id: 'd', api_version: '2024-10-21', api_key: 'k' },
        { provider: 'bedrock', aws_access_key_id: 'i', aws_secret_access_key: 's', aws_region: 'us-east-1' },
        { provider: 'vertex-ai', vertex_project_id: 'p', vertex_region: 'us-central1' },
      ],
    })
    const { channels } = read(text)
    expect(channels.map(({ provider, priority }) => [provider, priority])).toEqual([
      ...[
        ['azure-deployments', 0],
        ['bedrock-converse', 1],
      ],
      ['vertex', 2],
    ])
    expect(text).toContain('"*": d')
    expect(notes).toEqual([])
  })

  test('keeps the share of targets that stand for each other, and of none', () => {
    const openai = (fields: object) => ({ provider: 'openai', api_key: 'k', ...fields })
    const inner = { strategy: { mode: 'fallback' }, weight: 0.25, targets: [openai({}), openai({})] }
    const { text } = portkey({ strategy: { mode: 'loadbalance' }, targets: [openai({ weight: 0 }), inner] })
    expect(read(text).channels.map(({ priority, weight }) => [priority, weight])).toEqual([
      [0, 0.25],
      [1, 1],
    ])
  })

  test.each([
    ['openai', 'https://llm.example.org/v1', 'chat', 'https://llm.example.org/v1', 'bearer'],
    ['anthropic', 'https://llm.example.org/v1', 'messages', 'https://llm.example.org', 'x-api-key'],
    ['google', 'https://llm.example.org/v1beta', 'contents', 'https://llm.example.org', 'x-goog-api-key'],
    ['ollama', 'http://127.0.0.1:11434', 'chat', 'http://127.0.0.1:11434/v1', 'bearer'],
  ])('speaks the format of %s at a host of its own', (provider, custom_host, format, baseUrl, auth) => {
    const { text, notes } = portkey({ provider, custom_host, api_key: 'k' })
    expect(read(text).channels[0]!.formats[0]).toMatchObject({ format, baseUrl, auth })
    expect(notes).toEqual([])
  })

  test('notes parameters and providers that only Portkey knows', () => {
    const { notes } = portkey({
      strategy: { mode: 'fallback' },
      targets: [
        { provider: 'openai', api_key: 'k', override_params: { model: 'gpt-5.6', max_tokens: 200 } },
        { provider: '@openai-prod' },
      ],
    })
    expect(notes.map(({ path }) => path)).toEqual(['targets[0].override_params.max_tokens', 'targets[1].provider'])
  })

  test('may be the integrations of a gateway', () => {
    const models = [
      { slug: 'claude-opus-4-8', status: 'active' },
      { slug: 'old', status: 'inactive' },
    ]
    const { text, notes } = portkey({
      admin_token: 't',
      integrations: [
        { provider: 'anthropic', slug: 'team', credentials: { apiKey: 'k' }, models, rate_limits: [{ value: 3 }] },
        { provider: 'unheard-of' },
      ],
    })
    expect(read(text).channels.map(({ name, provider }) => [name, provider])).toEqual([['team', 'anthropic']])
    expect([...read(text).channels[0]!.models.named.keys()]).toEqual(['claude-opus-4-8'])
    expect(notes.map(({ path }) => path)).toEqual([
      ...['integrations[0].rate_limits', 'integrations[1].provider', 'admin_token'],
    ])
  })
})

describe('whatever a setting holds, `check` accepts the config', () => {
  /** Values as people write them, and values that no program expects. */
  const value = fc.oneof(
    fc.constantFrom<unknown>('small', ['small'], [{ small: ['large'] }], { '*': ['x'] }, 30, 0, -1, '15', null, true),
    fc.jsonValue({ maxDepth: 2 }),
  )
  const settings = (...names: string[]) =>
    fc.record(Object.fromEntries(names.map(name => [name, value])), { requiredKeys: [] })

  test('of LiteLLM', () => {
    const params = settings('timeout', 'stream_timeout', 'rpm', 'tpm', 'weight', 'order', 'max_parallel_requests')
    const config = fc.record({
      model_list: fc.tuple(params, fc.constantFrom(OPENAI, CLAUDE)).map(([more, { model_name, litellm_params }]) => [
        { model_name, litellm_params: { ...more, ...litellm_params } },
        { ...CLAUDE, model_info: { max_input_tokens: more['rpm'], input_cost_per_token: more['tpm'] } },
      ]),
      router_settings: settings('fallbacks', 'routing_strategy', 'timeout', 'model_group_alias', 'unheard'),
      litellm_settings: settings('request_timeout', 'context_window_fallbacks', 'default_fallbacks', 'cache'),
      general_settings: settings('master_key', 'database_url'),
    })
    fc.assert(fc.property(config, one => void [...warnings(read(litellm(one).text))]))
  })

  test.each(['new-api', 'one-api'])('of %s', gateway => {
    const fields = settings(
      ...['name', 'weight', 'priority', 'group', 'model_mapping', 'header_override', 'other', 'key'],
      ...['openai_organization', 'base_url', 'models'],
    )
    const list = fc.array(fc.tuple(fc.constantFrom(1, 3, 8, 14, 24, 27, 50), fields), { maxLength: 4 })
    fc.assert(
      fc.property(list, rows => {
        const { text } = importJson(gateway, [channel({}), ...rows.map(([type, row]) => channel({ type, ...row }))])
        return void [...warnings(read(text))]
      }),
    )
  })

  test('of Portkey', () => {
    const target = settings('weight', 'request_timeout', 'override_params', 'retry', 'custom_host', 'api_key')
    const provider = fc.constantFrom('openai', 'bedrock', 'azure-openai', 'vertex-ai', 'unheard')
    const targets = fc.array(fc.tuple(provider, target).map(([name, one]) => ({ provider: name, ...one })))
    const mode = fc.constantFrom('single', 'loadbalance', 'fallback', 'conditional')
    fc.assert(
      fc.property(mode, targets, (one, list) => {
        const first = { provider: 'openai', api_key: 'k' }
        const { text } = importJson('portkey', { strategy: { mode: one }, targets: [first, ...list] })
        return void [...warnings(read(text))]
      }),
    )
  })
})

describe('a key or an address that is refused leaves its channel out, which would use others otherwise', () => {
  const KEY = '! !'

  test.each<[string, unknown, string]>([
    [
      'litellm',
      { model_list: [OPENAI, model('large', { model: 'anthropic/claude-opus-4-8', api_key: KEY })] },
      'channels[1].key',
    ],
    ['new-api', [channel({ key: 'k' }), channel({ key: KEY })], 'channels[1].key'],
    ['one-api', [channel({ key: 'k' }), channel({ key: `${KEY}\n\ttwo words` })], 'channels[1].keys'],
    [
      'portkey',
      {
        targets: [
          { provider: 'openai', api_key: 'k' },
          { provider: 'bedrock', api_key: KEY },
        ],
      },
      'channels[1].key',
    ],
    [
      'portkey',
      {
        targets: [
          { provider: 'openai', api_key: 'k' },
          { provider: 'bedrock', aws_access_key_id: 'i', aws_secret_access_key: ' ' },
        ],
      },
      'channels[1].auth.secret_access_key',
    ],
    [
      'portkey',
      {
        targets: [
          { provider: 'openai', api_key: 'k' },
          { provider: 'vertex-ai', vertex_project_id: 'p', vertex_region: 'europe west' },
        ],
      },
      'channels[1].region',
    ],
    [
      'litellm',
      {
        model_list: [
          OPENAI,
          model('large', { model: 'anthropic/c', api_key: 'k', api_base: 'https://gateway.example.org/?team=a' }),
        ],
      },
      'channels[1].base_url',
    ],
    [
      'litellm',
      { model_list: [OPENAI, model('large', { model: 'azure/d', api_key: 'k', api_base: 'r.openai.azure.com' })] },
      'channels[1].base_url',
    ],
    [
      'litellm',
      {
        model_list: [OPENAI, model('large', { model: 'azure/d', api_key: 'k', api_base: `\${HOST}/openai` })],
      },
      'channels[1].base_url',
    ],
    [
      'portkey',
      {
        targets: [
          { provider: 'openai', api_key: 'k' },
          { provider: 'vertex-ai', vertex_project_id: `\${PROJECT}` },
        ],
      },
      'channels[1].project',
    ],
  ])('of %s', (gateway, config, path) => {
    const { text, notes } = importJson(gateway, config)
    expect(read(text).channels).toHaveLength(1)
    expect(notes).toContainEqual({ path, text: expect.stringMatching(/^left out with its channel, because it /) })
    expect(JSON.stringify(notes)).not.toContain(KEY)
  })
})

describe('names that every object inherits, and objects without a string form, are values like any other', () => {
  const NAMES = ['constructor', 'toString', 'valueOf', '__proto__', 'hasOwnProperty']
  const WORDLESS = { toString: 'a', valueOf: 'b' }
  /** Configs with a name or a value in each place from which a table is looked up. */
  const PLACES: { readonly [gateway: string]: readonly ((name: string) => string)[] } = {
    litellm: [
      name => `{"${name}": 1}`,
      ...['router_settings', 'litellm_settings', 'general_settings'].map(
        section => (name: string) => `{"${section}": {"${name}": 1}}`,
      ),
      name => `{"model_list": [{"model_name": "a", "litellm_params": {"model": "${name}/b", "${name}": 1}}]}`,
      name =>
        `{"model_list": [{"litellm_params": {"model": "b", "api_base": "http://a"}, "model_info": {"${name}": 1}}]}`,
      name =>
        `{"model_list": [{"litellm_params": {"model": "b", "api_base": "http://a"}, "model_info": {"mode": "${name}"}}]}`,
    ],
    'new-api': [
      name => `[{"name": "${name}", "type": 1, "models": "${name}", "model_mapping": "{}", "group": "${name}"}]`,
    ],
    'one-api': [name => `[{"type": "${name}", "id": "${name}"}]`],
    portkey: [
      name => `{"provider": "${name}", "${name}": 1}`,
      name => `{"integrations": [{"provider": "${name}"}], "${name}": 1}`,
    ],
  }

  test.each(Object.entries(PLACES))('in a config of %s', (gateway, places) => {
    for (const place of places)
      for (const name of NAMES) {
        const { notes } = importConfig(gateway, place(name), 'file')
        for (const { path, text } of notes) expect([typeof path, typeof text]).toEqual(['string', 'string'])
      }
  })

  test.each([
    ['new-api', [{ id: WORDLESS, type: WORDLESS }]],
    ['one-api', { data: [{ id: WORDLESS, type: 1, models: 'a' }] }],
    ['litellm', { ...{ model_list: [OPENAI] }, router_settings: { model_group_alias: { a: { model: WORDLESS } } } }],
    [
      'litellm',
      { model_list: [{ litellm_params: { model: 'b', api_base: 'http://a' }, model_info: { mode: WORDLESS } }] },
    ],
  ])('as fields of a config of %s', (gateway, config) => {
    expect(() => importJson(gateway, config)).not.toThrow()
  })
})

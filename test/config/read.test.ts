// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in a config look like that
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FOREIGN_PROVIDERS } from '../../src/config/foreign-names.ts'
import { ConfigError } from '../../src/config/index.ts'
import { defaultConfig, readConfig } from '../../src/config/read.ts'
import { PRESETS } from '../../src/formats/presets.ts'
import { ALONE } from '../builders/config.ts'

/** The documented config with every field. */
const DOCUMENTED = `
server:   { host: 127.0.0.1, port: 4747 }
data_dir: ./data                      # embedded default
store:    postgres://user@host/db
redis:    redis://127.0.0.1:6379
groups:
  default: { models: ["*"], rpm: 600, tpm: 1000000, on_loss: show }
keys:
  - { name: dev, key: "\${DEV_KEY}", group: default }
channels:
  - name: openai-main
    provider: openai
    key: \${OPENAI_API_KEY}
    models: [gpt-5.6, text-embedding-3-small]
    priority: 0
    weight: 1
  - name: local
    provider: custom
    formats: [chat, embeddings]
    base_url: http://127.0.0.1:9000/v1
    key: none
    models: { my-model: upstream-name }
    dialect: { reasoning_field: reasoning_content }
    timeout: { connect: 5s, first_byte: 60s, idle: 60s }
    max_concurrent: 200
models:
  gpt-5.6: { interface: chat, context: 400000, input: [text, image], price: { input: 1.25, output: 10 } }
`
const ENV = { DEV_KEY: 'dev-secret', OPENAI_API_KEY: 'openai-secret' }

/** Returns the faults of an invalid config, as `line path message`. */
function faults(text: string, env: { [name: string]: string } = ENV): string[] {
  try {
    readConfig(text, env)
  } catch (thrown) {
    if (thrown instanceof ConfigError)
      return thrown.faults.map(({ line, path, message }) => `${line} ${path} ${message}`)
    throw thrown
  }
  return []
}

const NO_VALUE = 'a name has no value: write `name: value`, with a space after the colon'
const NO_TYPE = 'a tag such as `!name` has no meaning here: write a text in quotes, and a variable as ${NAME}'
const channel = (fields: string) => `channels:\n  - { name: c, ${fields} }`
const one = (fields: string, env = {}) => readConfig(channel(fields), env).channels[0]!
const custom = (fields: string) => one(`provider: custom, base_url: "http://u:1/v1", ${fields}`)

describe('thoughts', () => {
  const thoughts = (fields: string) => readConfig(fields === '' ? '' : `thoughts: { ${fields} }`, {}).reasoningMemory

  it('are kept for two hours in 64 MiB, for as long and in as much as is said, or not at all', () => {
    expect(thoughts('')).toEqual({ retention: 7_200_000, memory: 2 ** 26 })
    expect(thoughts('keep: 30m, memory: 1MiB')).toEqual({ retention: 1_800_000, memory: 2 ** 20 })
    expect([thoughts('keep: 0').retention, thoughts('keep: "0"').retention]).toEqual([0, 0])
    expect(faults('thoughts: { keep: yes, size: 1 }')).toEqual([
      '1 thoughts.keep expected a duration such as 2h, or 0, found "yes"',
      expect.stringContaining('1 thoughts.size unknown key'),
    ])
  })
})

describe('proxies and certificates of channels', () => {
  const LOCAL = 'provider: custom, formats: [chat], key: none, base_url: "http://u:1/v1"'

  it('come from the channel, else the config, else the environment', () => {
    const of = (top: string, fields: string) =>
      readConfig(`${top}\n${channel(`${LOCAL}${fields}`)}`, { HTTPS_PROXY: 'http://env' })
    expect(of('', '').channels[0]!.proxy?.https).toBe('http://env')
    expect(of('proxy: http://top', '').channels[0]!.proxy?.https).toBe('http://top')
    expect(of('proxy: http://top', ', proxy: http://own').channels[0]!.proxy?.https).toBe('http://own')
    expect(of('proxy: http://top', ', proxy: none').channels[0]!.proxy).toBeUndefined()
    expect(of('proxy: http://top', ', proxy: none').media.proxy?.https).toBe('http://top')
    expect(readConfig('', { HTTPS_PROXY: 'http://env', OPENAI_API_KEY: 'k' }).channels[0]!.proxy?.https).toBe(
      'http://env',
    )
  })

  it('a variable that names no proxy is a fault, unless the config names one', () => {
    const env = { HTTPS_PROXY: 'socks5://proxy' }
    expect(faults(channel(LOCAL), env)).toEqual([expect.stringMatching(/ proxy the variable HTTPS_PROXY is not/)])
    expect(faults(`proxy: none\n${channel(LOCAL)}`, env)).toEqual([])
  })

  it('faults never show a credential', () => {
    expect(faults('proxy: "ftp://user:secret@proxy"')).toEqual([
      '1 proxy expected the http or https URL of a proxy, or none',
    ])
    const tls = (fields: string) => faults(channel(`${LOCAL}, tls: { ${fields} }`))
    expect(tls('cert: a.pem')).toEqual(['2 channels[0].tls needs both `cert` and `key`, or neither'])
    expect(tls('ca: /nowhere/ca.pem')).toEqual(['2 channels[0].tls.ca cannot be read: ENOENT'])
    expect(tls('ca: package.json, cert: package.json, key: package.json')).toEqual([
      '2 channels[0].tls has no valid certificates, or a key that belongs to another certificate',
    ])
  })
})

describe('the documented config', () => {
  it('is read whole', () => {
    const config = readConfig(DOCUMENTED, ENV)
    expect(config).toMatchObject({
      server: { host: '127.0.0.1', port: 4747 },
      dataDir: './data',
      store: { engine: 'postgres', url: 'postgres://user@host/db' },
      redis: 'redis://127.0.0.1:6379',
      channels: [
        { name: 'openai-main', provider: 'openai', key: 'openai-secret', priority: 0, weight: 1 },
        { name: 'local', provider: 'custom', maxConcurrent: 200 },
      ],
    })
    expect(config.groups.get('default')).toEqual({
      name: 'default',
      models: ['*'],
      limits: { rpm: 600, tpm: 1_000_000 },
      onLoss: 'show',
    })
    const local = config.channels[1]!
    expect(local.key).toBeUndefined()
    expect(local.timeout).toEqual({ connect: 5000, firstByte: 60_000, whole: 600_000, idle: 60_000 })
    // Chat Completions streams nothing while a model thinks, and a local model reads a long prompt for minutes.
    expect(config.channels[0]!.timeout).toEqual({ connect: 5000, firstByte: 600_000, whole: 600_000, idle: 300_000 })
    expect(local.models).toEqual({ named: new Map([['my-model', 'upstream-name']]), patterns: [] })
    expect(local.formats[0]).toEqual({
      format: 'chat',
      baseUrl: 'http://127.0.0.1:9000/v1',
      auth: 'none',
      headers: {},
      query: {},
      dialect: { reasoning_field: 'reasoning_content' },
    })
    expect(config.models.get('gpt-5.6')).toEqual({
      id: 'gpt-5.6',
      interface: 'chat',
      context: 400_000,
      input: ['text', 'image'],
      output: ['text'],
      price: { input: 1.25, output: 10 },
    })
  })

  it('has an example that is good', () => {
    const example = readFileSync(join(import.meta.dirname, '../../interlingua.example.yaml'), 'utf8')
    const keys = { ...ENV, AZURE_OPENAI_API_KEY: 'a', ANTHROPIC_API_KEY: 'b' }
    expect(readConfig(example, keys)).toMatchObject({
      server: { port: 4747 },
      channels: [
        { name: 'openai-main' },
        { name: 'azure-spare' },
        { name: 'anthropic' },
        { name: 'local' },
        { name: 'speaking' },
      ],
    })
  })

  it('may be JSON, tabs and all', () => {
    const json = JSON.stringify({ server: { port: 0 }, channels: [{ name: 'x', provider: 'ollama' }] }, null, '\t')
    expect(readConfig(json, {})).toMatchObject({ server: { port: 0 }, channels: [{ name: 'x' }] })
  })

  it('may hold keys with nothing behind them', () => {
    expect(
      readConfig('keys:\n#  - { name: a, key: b }\nchannels: [{ name: x, provider: ollama, models: }]', {}),
    ).toMatchObject({
      keys: [],
      channels: [{ models: { patterns: ['*'] } }],
    })
  })

  it('may be empty: every default is filled in', () => {
    const config = readConfig('# nothing yet\n', {})
    expect(config.server).toEqual({
      host: '127.0.0.1',
      port: 4747,
      ...ALONE,
      heartbeat: 15_000,
      earlyHead: true,
      drain: 5_000,
      grace: 30_000,
      limits: {
        body: 33_554_432,
        byFormat: new Map(),
        waiting: { key: 268_435_456, all: 1_073_741_824 },
        spooled: { key: 8_589_934_592, all: 34_359_738_368 },
        connections: 1000,
      },
      sockets: { lifetime: 3_600_000, idle: 1_800_000, queue: 16, turns: 1024, memory: 16_777_216 },
    })
    expect(config.groups.get('default')).toEqual({
      name: 'default',
      implied: true,
      limits: {},
      models: ['*'],
      onLoss: 'show',
    })
  })

  it('takes sizes and durations with their units', () => {
    const { server } = readConfig(
      'server: { heartbeat: 500ms, drain: 0s, grace: 1.5m, limits: { json_body: 1MiB, doors: { chat: 2KB, images: 9 } } }',
      {},
    )
    expect(server).toMatchObject({ heartbeat: 500, drain: 0, grace: 90_000, limits: { body: 1_048_576 } })
    expect(server.limits.byFormat).toEqual(
      new Map([
        ['chat', 2000],
        ['images', 9],
      ]),
    )
  })
})

describe('environment variables', () => {
  it('stand in text values, with defaults, and become numbers where numbers are wanted', () => {
    const config = readConfig('server: { host: "${HOST}", port: "${PORT:-8080}" }\ndata_dir: ${A}/x/${B:-y}', {
      HOST: 'h',
      A: 'a',
      B: '',
    })
    expect(config).toMatchObject({ server: { host: 'h', port: 8080 }, dataDir: 'a/x/y' })
  })

  it('are not looked for in comments and keys, and can be written plainly', () => {
    const config = readConfig('# ${NOT_SET}\ndata_dir: $${A}\nmodels: { "${B}": {} }', {})
    expect(config.dataDir).toBe('${A}')
    expect([...config.models.keys()]).toEqual(['${B}'])
  })

  it('are missed with their line', () => {
    expect(faults('server:\n  host: ${NO_HOST}\n')).toEqual(['2  the environment variable NO_HOST is not set'])
  })

  it.each(['${A-x}', '${A:?x}', '${A:+x}', '${ A }', '${env:A}', '${{ secrets.A }}', 'x${A', '${A}${', '$${A}${1}'])(
    'must be written in one of the two forms: %s',
    text => {
      expect(faults(`server:\n  port: 80\ndata_dir: "${text}"\n`, { A: 'a' })).toEqual([
        '3  a variable must be written as ${NAME} or ${NAME:-default}; $${ stands for the text ${',
      ])
    },
  )

  it.each(['keys:\n  - { name: a, key: ${A} }', 'keys: []\nchannels: [{ name: a, keys: [${A}, ${B}] }]'])(
    'need quotes inside of braces and brackets, which the only fault says: %s',
    text => {
      expect(faults(text)).toEqual([
        '2  a variable between braces or brackets must be in quotes: "${NAME}"',
        ...(text.includes('B') ? ['2  a variable between braces or brackets must be in quotes: "${NAME}"'] : []),
      ])
    },
  )

  it('cannot change the shape of the file', () => {
    expect(readConfig('data_dir: "${A}"', { A: 'x", store: "y' }).dataDir).toBe('x", store: "y')
  })
})

it.each([
  ['10.0.0.5', '127.0.0.1', true],
  ['0.0.0.0', '::1', true],
  ['localhost', '0.0.0.0', true], // it may be ::1
  ['0.0.0.0', '127.0.0.1', false],
  ['10.0.0.5', '0.0.0.0', false],
  ['0.0.0.0', '::', false],
  ['::1', '::', false],
  ['::', '127.0.0.1', false], // `::` is the addresses of IPv4 as well
  ['localhost', 'localhost', false],
])('has the gateway at %s and metrics at %s on one port: %s', (host, metrics, works) => {
  const read = () =>
    readConfig(`server: { host: '${host}', port: 4750 }\nmetrics: { host: '${metrics}', port: 4750 }`, {})
  if (works) expect(read().metrics.listen).toEqual({ host: metrics, port: 4750 })
  else expect(read).toThrow("metrics.port: is also the gateway's port")
})

it.each([
  '$KEY',
  '$(KEY)',
  '$(MY-KEY)',
  '%KEY%',
  'os.environ/KEY',
  'os.environ/MY-KEY',
  'env:KEY',
  'env::KEY',
  '{vault://env/KEY}',
  'process.env.KEY',
])('refuses a key that is the name of a variable as another program writes it, which anybody could guess: %s', key => {
  const fault = 'key is the name of a variable, not its value: write ${NAME}'
  expect(faults(`keys: [{ name: a, key: "${key}" }]`)).toEqual([`1 keys[0].${fault}`])
  expect(faults(`channels: [{ name: a, provider: openai, key: "${key}" }]`)).toEqual([`1 channels[0].${fault}`])
})

it.each(['/run/secrets/openai', 'file:///run/secrets/openai', 'vault://kv/openai#key', 'path::/secrets/openai'])(
  'refuses a key that is the place of a secret, which would be sent as the key: %s',
  key => {
    expect(faults(`channels: [{ name: a, provider: openai, key: "${key}" }]`)).toEqual([
      '1 channels[0].key is the place of a secret, which is not read: set a variable to the secret and write ${NAME}',
    ])
  },
)

describe('names of other gateways lead to the setting that does the same', () => {
  it.each([
    [
      'model_list: []',
      '1 model_list unknown key; this is a config of LiteLLM: `interlingua import litellm FILE` converts it',
    ],
    ['providers: {}', '1 providers unknown key; write "channels"'],
    ['port: 4000', '1 port unknown key; write it below "server"'],
    ['keys: [{ name: a, key: k-abcdefgh, team: x }]', '1 keys[0].team unknown key; write "group"'],
    [
      'groups: { g: { max_budget: 5 } }',
      '1 groups.g.max_budget unknown key; write "budget", as in `budget: { day: 5, month: 100 }`',
    ],
    [
      'channels: [{ name: a, provider: ollama, api_base: "http://h" }]',
      '1 channels[0].api_base unknown key; write "base_url"',
    ],
    [
      'channels: [{ name: a, provider: azure, key: k }]',
      '1 channels[0].provider unknown provider "azure"; did you mean "azure-openai"?',
    ],
  ])('%s', (text, fault) => {
    expect(faults(text)).toEqual([fault])
  })

  it('and every provider that they lead to exists', () => {
    for (const [, preset] of FOREIGN_PROVIDERS) expect(PRESETS.has(preset), preset).toBe(true)
  })
})

it('an item of a list that is indented too far is no part of the text above it', () => {
  const text = 'channels:\n  - name: a\n    models:\n      - gpt-5.6\n       - gpt-5.6-mini\n       - gpt-5.5\n'
  expect(faults(text)).toEqual(['5  this line is indented too far, so that it belongs to the text of the line above'])
  expect(readConfig('data_dir: a\n  b - c\n', {}).dataDir).toBe('a b - c')
})

describe('faults name their line', () => {
  it.each([
    ['an unknown key', 'server: {}\nchanels: []', '2 chanels unknown key; did you mean "channels"?'],
    [
      'letters swapped',
      `${channel('provider: ollama, pirority: 1')}`,
      '2 channels[0].pirority unknown key; did you mean "priority"?',
    ],
    ['nothing like it', 'colour: red', '1 colour unknown key'],
    ['a number for a text', 'server:\n  host: 3', '2 server.host expected a string, found 3'],
    ['a text for a number', 'server:\n\n  port: many', '3 server.port expected a port, found "many"'],
    [
      'more workers than any machine has cores',
      'server:\n  workers: 5000',
      '2 server.workers expected a whole number from 1 to 512, found 5000',
    ],
    [
      'no worker, as interpolation writes it',
      'server:\n  workers: "0"',
      '2 server.workers expected a whole number from 1 to 512, found 0',
    ],
    ['a map for a list', 'channels: {}', '1 channels expected a list, found a map'],
    ['a list for the whole', '- a', '1  expected a map, found a list'],
    [
      'a duration without unit',
      'server:\n  heartbeat: 5',
      '2 server.heartbeat expected a duration such as 5s or 500ms, found 5',
    ],
    [
      'no time at all between signs of life',
      'server:\n  heartbeat: 0s',
      '2 server.heartbeat expected a duration from 1ms to 3d',
    ],
    ['more than a timer can wait for', 'server: { grace: 30d }', '1 server.grace expected a duration from 0s to 24d'],
    [
      'a wait nobody can keep',
      channel('provider: ollama, timeout: { idle: 0s }'),
      '2 channels[0].timeout.idle expected a duration from 1ms to 24d',
    ],
    [
      'a word of a few',
      'groups:\n  g: { on_loss: hide }',
      '2 groups.g.on_loss expected "show" or "refuse", found "hide"',
    ],
    ['a missing field', 'channels:\n  - name: x', '2 channels[0].provider is missing'],
    [
      'an unknown provider',
      channel('provider: antropic'),
      '2 channels[0].provider unknown provider "antropic"; did you mean "anthropic"?',
    ],
    [
      'an unknown format',
      channel('provider: custom, base_url: "http://u", formats: [chatt]'),
      '2 channels[0].formats[0] unknown format "chatt"; did you mean "chat"?',
    ],
    [
      'no formats',
      channel('provider: custom, base_url: "http://u"'),
      '2 channels[0].formats is missing: list the formats of this upstream, best first',
    ],
    ['no address', channel('provider: custom, formats: [chat]'), '2 channels[0].base_url is missing'],
    ['no key', channel('provider: anthropic'), '2 channels[0].key is missing, and ANTHROPIC_API_KEY is not set'],
    ['an empty key', 'keys:\n  - name: a\n    key: ""', '3 keys[0].key is empty'],
    ['a key of space alone', 'keys:\n  - name: a\n    key: " \\n"', '3 keys[0].key is empty'],
    [
      'a key that no header can hold',
      'keys: [{ name: a, key: "a b" }]',
      '1 keys[0].key has a space, a line break or another character that no header can hold',
    ],
    [
      'an upstream key that nobody filled in',
      channel('provider: openai, key: "<your-key>"'),
      '2 channels[0].key is a placeholder: write the key',
    ],
    [
      'a key with the quotes of an env file',
      channel(`provider: openai, key: '"abc"'`),
      '2 channels[0].key has quotes around it: remove them, also where the variable is set',
    ],
    [
      'an upstream key of two lines',
      channel('provider: openai, key: "a\\nb"'),
      '2 channels[0].key has a space, a line break or another character that no header can hold',
    ],
    [
      'a header of two lines',
      channel('provider: openai, key: k, headers: { x-a: "a\\nb" }'),
      '2 channels[0].headers.x-a has a line break or another character that no header can hold',
    ],
    [
      'a name that is no header',
      channel('provider: openai, key: k, headers: { "x a": b }'),
      '2 channels[0].headers.x a is not a header name',
    ],
    [
      'metrics at the port of the gateway',
      'server: { port: 4750 }\nmetrics: { port: 4750 }',
      "2 metrics.port is also the gateway's port; to serve metrics there, set `metrics: { key: … }` without a port",
    ],
    ['an alias of nothing', 'server:\n  port: *mine', '2  Unresolved alias (the anchor must be set before the alias)'],
    [
      'a key of no group',
      'keys: [{ name: a, key: b, group: defualt }]',
      '1 keys[0].group no group "defualt"; did you mean "default"?',
    ],
    ['a name twice', 'keys: [{ name: a, key: b }, { name: a, key: c }]', '1 keys[1].name another key is named "a"'],
    [
      'a credential passed on',
      channel('provider: ollama, allow_headers: [Authorization]'),
      '2 channels[0].allow_headers[0] "Authorization" is never passed from a caller to an upstream',
    ],
    ...['xi-api-key', 'accept-encoding', 'user-agent', 'expect'].map(name => [
      `${name}, which the exchange with the upstream has of its own`,
      channel(`provider: ollama, allow_headers: [${name}]`),
      `2 channels[0].allow_headers[0] "${name}" is never passed from a caller to an upstream`,
    ]),
    [
      'a model that is no text',
      channel('provider: ollama, models: [a, 1]'),
      '2 channels[0].models[1] expected a string, found 1',
    ],
    ['nothing in a list', 'keys: [~]', '1 keys[0] expected a map, found null'],
    [
      'an address with a query',
      channel('provider: ollama, base_url: "http://u/v1?a=b"'),
      '2 channels[0].base_url expected an http or https address, found "http://u/v1?…"',
    ],
    ['a key twice', 'server: {}\nserver: {}', '2  Map keys must be unique'],
    ['a key as a number and a text', 'models:\n  1: {}\n  "1": {}', '3  Map keys must be unique'],
    ['no space behind a colon', 'groups:\n  g: { models: ["*"],\n    rpm:60 }', `3  ${NO_VALUE}`],
    ['no colon', 'groups:\n  g: { budget: { day 5 } }', `2  ${NO_VALUE}`],
    ['a comment of JSON in front of a name', '{"data_dir":"a",// b\n"store":"c"}', `1  ${NO_VALUE}`],
    [
      'an alias of what contains it',
      'keys: []\ngroups:\n  g: &g { models: [*g] }',
      '3  an alias stands for a value that contains it',
    ],
    ...['!!omap [a: b]', '!!set { a: }', '!!binary YQ=='].map(value => [
      `the type ${value}`,
      channel(`provider: ollama, models: ${value}`),
      `2  ${NO_TYPE}`,
    ]),
    ...['content-length: "5"', 'Transfer-Encoding: chunked'].map(header => [
      `a header of the connection, ${header}`,
      channel(`provider: ollama, headers: { ${header} }`),
      `2 channels[0].headers.${header.split(':')[0]} is set by the gateway itself`,
    ]),
    ...['{ "": up }', '["  "]'].map(models => [
      `a model without a name, ${models}`,
      channel(`provider: ollama, models: ${models}`),
      '2 channels[0].models has a model without a name',
    ]),
    ['broken YAML', 'a: [', '1  Flow sequence in block collection must be sufficiently indented and end with a ]'],
  ])('%s', (_, text, expected) => {
    expect(faults(text, {})).toEqual([expected])
  })

  it('and all of them are told', () => {
    const text =
      'server:\n  prot: 1\nchannels:\n  - name: x\n    provider: ollama\n    weight: -1\n    timeout: { idle: soon }'
    expect(faults(text).map(line => line.split(' ')[0])).toEqual(['2', '6', '7'])
    expect(() => readConfig(text, {}, 'my.yaml')).toThrow('my.yaml:6: channels[0].weight: ')
  })

  it('never shows a key', () => {
    expect(faults(channel('provider: openai, key: [very-secret]'))).toHaveLength(1)
    expect(faults(channel('provider: openai, key: 12345678'))).toEqual(['2 channels[0].key expected a string'])
  })
})

describe('models of a channel', () => {
  it('come in three shapes', () => {
    expect(custom('formats: [chat], models: [a, b]').models.named).toEqual(
      new Map([
        ['a', 'a'],
        ['b', 'b'],
      ]),
    )
    expect(custom('formats: [chat], models: { a: x }').models.named).toEqual(new Map([['a', 'x']]))
    expect(custom('formats: [chat], models: ["*"]').models).toEqual({ named: new Map(), patterns: ['*'] })
    expect(custom('formats: [chat]').models).toEqual({ named: new Map(), patterns: ['*'] })
  })
})

describe('addresses', () => {
  const urls = (fields: string): { [format: string]: string } =>
    Object.fromEntries(
      one(`provider: custom, key: none, ${fields}`).formats.map(({ format, baseUrl }) => [format, baseUrl]),
    )

  it("stand as the provider's own SDK takes them", () => {
    expect(urls('formats: [chat], base_url: "http://u/v1/"')).toEqual({ chat: 'http://u/v1' })
    expect(urls('formats: [chat], base_url: "http://u/api/paas/v4"')).toEqual({ chat: 'http://u/api/paas/v4' })
    expect(urls('formats: [chat], base_url: "http://u"')).toEqual({ chat: 'http://u' })
    expect(urls('formats: [messages], base_url: "http://u"')).toEqual({ messages: 'http://u' })
    expect(urls('formats: [contents], base_url: "http://u/v1beta"')).toEqual({ contents: 'http://u' })
  })

  it('serve formats of both sorts from one base_url', () => {
    const both = { chat: 'http://u/v1', messages: 'http://u', contents: 'http://u' }
    expect(urls('formats: [chat, messages, contents], base_url: "http://u/v1"')).toEqual(both)
    expect(urls('formats: [chat, messages, contents], base_url: "http://u"')).toEqual(both)
  })

  const at = (provider: string, base_url: string, more = ''): { [format: string]: string } =>
    Object.fromEntries(
      one(`provider: ${provider}, key: k, base_url: "${base_url}"${more}`).formats.map(row => [
        row.format,
        row.baseUrl,
      ]),
    )

  it('of a vendor with paths of its own hold for what is at its first one', () => {
    const google = { contents: 'http://u', interactions: 'http://u', veo: 'http://u', live: 'http://u' }
    expect(at('google', 'http://u')).toEqual(google)
    expect(at('google', 'http://u/v1beta')).toEqual(google)
    expect(at('deepseek', 'http://u')).toEqual({ chat: 'http://u/v1', responses: 'http://u/v1' })
    expect(at('deepseek', 'http://u/v1')).toEqual({ chat: 'http://u/v1', responses: 'http://u/v1' })
    expect(at('zai', 'http://u/v1')).toEqual({ chat: 'http://u/v1' })
  })

  it('of a vendor with paths of its own hold for all of them where they show one', () => {
    const deepseek = { chat: 'http://u/p', messages: 'http://u/p/anthropic', responses: 'http://u/p' }
    expect(at('deepseek', 'http://u/p/anthropic')).toEqual(deepseek)
    const google = { contents: 'http://u', embeddings: 'http://u/v1beta/openai' }
    expect(at('google', 'http://u/v1beta/openai/')).toEqual({
      ...{ ...google, interactions: 'http://u', veo: 'http://u', live: 'http://u' },
    })
    expect(at('google', 'http://u', ', formats: [contents, embeddings]')).toEqual(google)
    expect(at('google', 'http://u/v1', ', formats: [embeddings]')).toEqual({ embeddings: 'http://u/v1' })
    const zai = { chat: 'http://u/api/paas/v4', messages: 'http://u/api/anthropic' }
    expect(at('zai', 'http://u/api/paas/v4')).toEqual(zai)
    expect(at('zai', 'http://u/api/anthropic')).toEqual(zai)
  })

  it('of the vendor itself are what is written, and the others are where they always are', () => {
    const messages = 'https://api.z.ai/api/anthropic'
    expect(at('zai', 'https://api.z.ai')).toEqual({ chat: 'https://api.z.ai/api/paas/v4', messages })
    const coding = 'https://api.z.ai/api/coding/paas/v4'
    expect(at('zai', coding)).toEqual({ chat: coding, messages })
  })

  it('of a vendor with one path stand for all of its formats', () => {
    expect(at('openrouter', 'http://u/api/v1')).toMatchObject({ chat: 'http://u/api/v1', messages: 'http://u/api' })
    expect(new Set(Object.values(at('voyage', 'http://u/v1')))).toEqual(new Set(['http://u/v1']))
    expect(at('ollama', 'http://u/v1')).toMatchObject({ chat: 'http://u/v1', messages: 'http://u' })
  })

  it('may be given a format each', () => {
    expect(
      urls('formats: [chat, messages], base_url: { chat: "http://a/v1", messages: "http://b/anthropic" }'),
    ).toEqual({
      chat: 'http://a/v1',
      messages: 'http://b/anthropic',
    })
  })
})

describe('a preset', () => {
  it('gives address, auth, formats and dialect, and the operator has the last word', () => {
    const plain = one('provider: deepseek, key: k')
    expect(plain.formats.map(({ format, baseUrl, auth }) => [format, baseUrl, auth])).toEqual([
      ['chat', 'https://api.deepseek.com', 'bearer'],
      ['messages', 'https://api.deepseek.com/anthropic', 'x-api-key'],
      ['responses', 'https://api.deepseek.com', 'bearer'],
    ])
    const own = one('provider: deepseek, key: k, formats: [chat], dialect: { json_schema: true }, headers: { X-A: b }')
    expect(own.formats).toHaveLength(1)
    expect(own.formats[0]).toMatchObject({ headers: { 'x-a': 'b' } })
    expect(own.formats[0]!.dialect).toMatchObject({ reasoning_field: 'reasoning_content', json_schema: true })
  })

  it('takes its key from where it usually is', () => {
    expect(one('provider: google', { GOOGLE_API_KEY: 'g' }).key).toBe('g')
    expect(one('provider: google, key: own', { GOOGLE_API_KEY: 'g' }).key).toBe('own')
  })

  it('of azure takes the address of the resource', () => {
    const { formats } = one('provider: azure-openai, key: k', { AZURE_OPENAI_ENDPOINT: 'https://r.openai.azure.com/' })
    expect(formats[0]).toMatchObject({ baseUrl: 'https://r.openai.azure.com/openai/v1', auth: 'api-key' })
  })

  it('trap 79: says which betas go to the upstream', () => {
    expect(one('provider: anthropic, key: k').betas).toBe('allow')
    expect(one('provider: deepseek, key: k').betas).toBe('none')
    expect(one('provider: anthropic, key: k, betas: [a-1]').betas).toEqual(['a-1'])
  })
})

describe('without a config', () => {
  it('every provider whose key is in the environment is a channel', () => {
    const { channels } = defaultConfig({ GEMINI_API_KEY: 'g', OPENAI_API_KEY: 'o', AZURE_OPENAI_API_KEY: 'no address' })
    expect(channels.map(({ name, key }) => [name, key])).toEqual([
      ['openai', 'o'],
      ['google', 'g'],
    ])
    expect(channels[0]!.models.patterns).toEqual(['*'])
  })

  it('the built-in replay answers where there is none', () => {
    const { channels } = defaultConfig({ OPENAI_API_KEY: '' })
    expect(channels.map(({ name, provider }) => [name, provider])).toEqual([['replay', 'replay']])
    const formats = channels[0]!.formats.map(({ format }) => format)
    expect(formats).toEqual(
      expect.arrayContaining(['chat', 'responses', 'messages', 'contents', 'embeddings', 'rerank']),
    )
  })

  it('the same holds for a config without channels, while an empty list means none', () => {
    expect(readConfig('server: {}', { XAI_API_KEY: 'x' }).channels.map(({ name }) => name)).toEqual(['xai'])
    expect(readConfig('channels: []', { XAI_API_KEY: 'x' }).channels).toEqual([])
  })
})

it.each([
  ['a weight without end', 'channels: [{ name: a, provider: openai, key: k, weight: .inf }]', 'expected a number'],
  [
    'a price without end',
    'models: { m: { price: { input: 1e999 } } }',
    'expected an amount, 0 or more, found Infinity',
  ],
  [
    'a rule that is no expression',
    'keys: [{ name: a, key: k, record: { folder: a, redact: ["/(/"] } }]',
    'record.redact[0]: is neither a path nor a valid /expression/',
  ],
  ['an address of Redis with a wrong port', 'redis: "redis://localhost:99999"', 'redis: is not a valid address'],
  ['a password of Redis with signs', 'redis: "redis://:a/b#c@localhost"', 'redis: is not a valid address'],
  ['a variable that every object has', 'data_dir: "${constructor}"', 'the environment variable constructor is not set'],
])('%s is a fault, although only a request would fail', (_, text, said) => {
  expect(() => readConfig(text, {})).toThrow(said)
})

it('an anchor may be used by hundreds of channels', () => {
  const rows = Array.from({ length: 300 }, (_, at) => `  - { name: c${at}, provider: openai, key: k, timeout: *slow }`)
  const text = `channels:\n  - { name: first, provider: openai, key: k, timeout: &slow { whole: 20m } }\n${rows.join('\n')}`
  expect(readConfig(text, {}).channels.filter(({ timeout }) => timeout.whole === 1_200_000)).toHaveLength(301)
})

describe('a secret in a wrong place is not in the fault', () => {
  const KEY = 'sk-"of the environment"\n1234'

  it.each([
    ['a channel', 'channels: ["${OPENAI_API_KEY}"]', 'expected a map, found a string'],
    ['a provider', 'channels: [{ name: a, provider: "${OPENAI_API_KEY}" }]', '${OPENAI_API_KEY}'],
    ['a number', 'server: { port: "port ${OPENAI_API_KEY}" }', 'found "port ${OPENAI_API_KEY}"'],
    ['an address', 'redis: "${OPENAI_API_KEY}"', ''],
  ])('%s', (_, text, said) => {
    const read = () => readConfig(text, { OPENAI_API_KEY: KEY })
    expect(read).toThrow(said)
    expect(read).not.toThrow('of the environment')
  })

  const channel = 'channels: [{ name: a, provider: custom, formats: [chat], key: none'

  it.each([
    ['a list of keys', 'keys: [PASSWORD]', 'keys[0]: expected a map, found a string'],
    ['the list of keys', 'keys: PASSWORD', 'keys: expected a list, found a string'],
    ['the list of channels', 'channels: PASSWORD', 'channels: expected a list, found a string'],
    ['the map of secrets', 'encryption: PASSWORD', 'encryption: expected a map, found a string'],
    ['the map of metrics', 'metrics: PASSWORD', 'metrics: expected a map, found a string'],
    ['the whole file', 'PASSWORD', 'expected a map, found a string'],
    ['headers', `${channel}, headers: "x-api-key: PASSWORD" }]`, 'headers: expected a map, found a string'],
    ['a sign-in', `${channel}, auth: PASSWORD }]`, 'auth: expected a map, found a string'],
    ['models', `${channel}, models: PASSWORD }]`, 'models: expected a list or a map of models, found a string'],
    ['a query', `${channel}, base_url: "https://u/v1?key=PASSWORD" }]`, 'found "https://u/v1?…"'],
    ['a password with a slash', `${channel}, base_url: "https://user:a/PASSWORD@u?" }]`, 'found "https://…@u?"'],
    ['an address without a scheme', `${channel}, base_url: "user:PASSWORD@u" }]`, 'found "…@u"'],
  ])('%s of the file itself', (_, text, said) => {
    const read = () => readConfig(text, {})
    expect(read).toThrow(said)
    expect(read).not.toThrow('PASSWORD')
  })
})

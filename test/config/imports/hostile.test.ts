import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { importConfigCommand } from '../../../src/commands/import-config.ts'
import { IMPORTABLE, importConfig } from '../../../src/config/imports/index.ts'
import { readConfig } from '../../../src/config/read.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { ENV, MAIN } from '../../builders/paths.ts'
import { cpuTimeOf, TIMED } from '../../builders/time.ts'

/* Files of other gateways that somebody else wrote: what they hold may cost time, hide settings or steal variables. */

const closing = closingAfterEach()

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'hostile-import-'))
  closing.push(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const importJson = (gateway: string, value: unknown) => importConfig(gateway, JSON.stringify(value), 'file')

const entry = (model_name: string, params: object = {}) => ({
  model_name,
  litellm_params: { model: 'gpt-5.6', ...params },
})

describe('parts that very many models share', () => {
  const models = Array.from({ length: 150 }, (_, at) => `m${at}`)

  test.each([
    [
      'as an anchor of the file',
      [
        'x: &shared { x-team: a }',
        'model_list:',
        ...models.map(
          name =>
            `- { model_name: ${name}, litellm_params: { model: openai/x, api_key: k-${name}, extra_headers: *shared } }`,
        ),
      ].join('\n'),
    ],
    [
      'because they do the same work',
      JSON.stringify({
        model_list: models.map(name => ({
          ...entry(name, { api_key: 'k', api_base: `https://${name}.example.org` }),
          model_info: { mode: 'embedding' },
        })),
      }),
    ],
  ])('%s are imported, and the config is valid', (_, written) => {
    const { text } = importConfig('litellm', written, 'file')
    expect(readConfig(text, {}).channels).toHaveLength(150)
    expect(text).not.toMatch(/[&*]a\d/)
  })
})

describe('files whose aliases expand without end', () => {
  /** Each level refers to the level before it in several places. */
  const levels = (count: number, level: (before: string) => string): string =>
    [
      'a0: &a0 { x: 1 }',
      ...Array.from({ length: count }, (_, at) => `a${at + 1}: &a${at + 1} ${level(`*a${at}`)}`),
    ].join('\n')

  test.each([
    ['in lists', levels(9, before => `[${Array(9).fill(before).join(', ')}]`)],
    ['in maps', levels(30, before => `{ p: ${before}, q: ${before} }`)],
    ['in merges', levels(30, before => `{ p: { <<: ${before} }, q: { <<: ${before} } }`)],
    ['in lists of merges', levels(30, before => `{ p: { <<: [${before}, ${before}] }, q: { <<: ${before} } }`)],
    ['in themselves', 'a: &a { b: *a }\nmodel_list: *a'],
  ])('%s are refused, or stay small', (_, text) => {
    for (const gateway of IMPORTABLE) {
      const written = `${text}\nmodel_list: [{ model_name: *a0, litellm_params: { model: a } }]`
      const took = cpuTimeOf(() => {
        try {
          expect(importConfig(gateway, written, 'file').text.length).toBeLessThan(100_000)
        } catch (thrown) {
          expect((thrown as Error).message).toMatch(/^file /)
        }
      })
      expect(took).toBeLessThan(2000)
    }
  })
})

describe('very large and very deep files', () => {
  const DEEP = 4000
  const nested = (open: string, close: string) => open.repeat(DEEP) + close.repeat(DEEP)
  const inner = '{"provider":"openai"}'
  test.each([
    ['lists', `model_list: ${nested('[', ']')}`],
    ['maps', `model_list: ${nested('{"a":', '}').replace('}', '1}')}`],
    ['targets of targets', `${'{"strategy":{"mode":"fallback"},"targets":['.repeat(DEEP)}${inner}${']}'.repeat(DEEP)}`],
  ])('%s of many levels are refused by name', (_, text) => {
    for (const gateway of IMPORTABLE) {
      try {
        importConfig(gateway, text, 'file')
      } catch (thrown) {
        expect((thrown as Error).message, gateway).toMatch(/^file /)
      }
    }
  })

  test('targets that the parser takes are never too deep for the rest', () => {
    for (const depth of [100, 500, 1000, 1500]) {
      const text = `${'{"strategy":{"mode":"fallback"},"targets":['.repeat(depth)}${inner}${']}'.repeat(depth)}`
      try {
        expect(importConfig('portkey', text, 'file').channels).toBe(1)
      } catch (thrown) {
        expect((thrown as Error).message, `${depth}`).toMatch(/^file /)
      }
    }
  })

  test('a megabyte in a name or a value is taken in a moment', TIMED, () => {
    const long = 'x'.repeat(2 ** 19)
    const took = cpuTimeOf(() => {
      importJson('litellm', { model_list: [entry(long), entry('a', { [long]: 1, api_base: long })], [long]: 1 })
      importJson('new-api', [{ id: 1, type: 1, name: long, models: `${long},a`, base_url: `http://${long}` }])
      importJson('portkey', { provider: long, targets: [{ provider: 'openai', custom_host: `https://a/${long}////` }] })
    })
    expect(took).toBeLessThan(3000)
  })

  test('slashes at the end of an address take no quadratic time', TIMED, () => {
    const slashes = `https://a${'/'.repeat(200_000)}b`
    const took = cpuTimeOf(() => {
      importJson('litellm', { model_list: [entry('a', { model: 'custom_openai/a', api_base: slashes })] })
      importJson('new-api', [{ id: 1, type: 1, name: 'a', models: 'a', base_url: slashes }])
      importJson('portkey', { provider: 'openai', custom_host: slashes })
    })
    expect(took).toBeLessThan(2000)
  })
})

describe('twice the accounts take about twice the time', TIMED, () => {
  const rows = <T>(count: number, row: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => row(at))
  const key = (at: number) => ({ api_key: `key-${at}` })
  test.each<[string, string, (count: number) => unknown]>([
    ['accounts of one vendor', 'litellm', count => ({ model_list: rows(count, at => entry('m', key(at))) })],
    ['models of one account', 'litellm', count => ({ model_list: rows(count, at => entry(`m${at}`, key(0))) })],
    [
      'patterns beside names',
      'litellm',
      count => ({
        model_list: rows(count, at =>
          entry(`m${at}/*`, { ...key(at), model: 'openai/*', api_base: `https://${at}.example.org` }),
        ),
      }),
    ],
    [
      'values that are refused',
      'litellm',
      count => ({ model_list: rows(count, at => entry(`m${at}`, { ...key(at), weight: 1e300 })) }),
    ],
    [
      'fallbacks of one model',
      'litellm',
      count => ({ model_list: [entry('m')], router_settings: { fallbacks: rows(count, at => ({ m: [`f${at}`] })) } }),
    ],
    [
      'aliases',
      'litellm',
      count => ({
        model_list: rows(count, at => entry(`m${at}`, key(at))),
        router_settings: { model_group_alias: Object.fromEntries(rows(count, at => [`a${at}`, `m${at}`])) },
      }),
    ],
    [
      'channels of one name',
      'new-api',
      count => rows(count, at => ({ id: at, type: 1, name: 'a', models: 'm', key: `${at}`, priority: at })),
    ],
    [
      'targets of one vendor',
      'portkey',
      count => ({ targets: rows(count, () => ({ provider: 'openai', api_key: 'k' })) }),
    ],
    [
      'integrations of one name',
      'portkey',
      count => ({ integrations: rows(count, () => ({ provider: 'openai', slug: 'a', credentials: { apiKey: 'k' } })) }),
    ],
  ])('%s', (_, gateway, config) => {
    const time = (count: number): number => {
      const text = JSON.stringify(config(count))
      return cpuTimeOf(() => importConfig(gateway, text, 'file'))
    }
    time(100)
    const [small, large] = [time(250), time(1000)]
    expect(large).toBeLessThan(10 * Math.max(small, 20))
  })
})

describe('a cut file', () => {
  const FILES: { readonly [gateway: string]: string } = {
    litellm: `model_list:
  - model_name: small
    litellm_params: { model: openai/gpt-5.6, api_key: os.environ/OPENAI_API_KEY }
  - model_name: large
    litellm_params:
      model: anthropic/claude-opus-4-8
      api_base: https://claude.example.org
router_settings:
  fallbacks: [{ small: [large] }]
`,
    'new-api': JSON.stringify({
      data: { items: [{ id: 1, type: 1, name: 'a', models: 'm,n', key: 'k', base_url: 'https://a.example.org' }] },
    }),
    'one-api': JSON.stringify([{ id: 1, type: 14, name: 'a', models: 'm,n', key: 'k', group: 'default,vip' }]),
    portkey: JSON.stringify({
      strategy: { mode: 'fallback' },
      targets: [
        { provider: 'openai', api_key: 'k' },
        { provider: 'x-ai', api_key: 'l' },
      ],
    }),
  }

  test.each(Object.entries(FILES))('of %s is refused by name, or becomes a config, at every byte', (gateway, whole) => {
    for (let end = 0; end <= whole.length; end++) {
      try {
        const { text, channels } = importConfig(gateway, whole.slice(0, end), 'file')
        expect((parse(text) as { channels: unknown[] }).channels).toHaveLength(channels)
      } catch (thrown) {
        expect((thrown as Error).message, whole.slice(0, end)).toMatch(/^file (is neither YAML nor JSON|contains no )/)
      }
    }
  })

  test('of JSON never becomes a config with a part of its channels', () => {
    for (const gateway of ['new-api', 'one-api', 'portkey']) {
      const whole = FILES[gateway]!
      for (let end = 1; end < whole.length; end++)
        expect(() => importConfig(gateway, whole.slice(0, end), 'file'), whole.slice(0, end)).toThrow(/^file /)
    }
  })
})

describe('the order of a file', () => {
  const CONFIG = {
    model_list: [entry('a', { api_key: 'k' }), entry('b', { model: 'claude-opus-4-8' })],
    router_settings: { model_group_alias: { second: 'a' }, fallbacks: [{ a: ['b'] }, { '*': ['a'] }], timeout: 30 },
    litellm_settings: { context_window_fallbacks: [{ b: ['second'] }], request_timeout: 40 },
    general_settings: { master_key: 'sk-1234' },
  }

  /** Returns the object with its fields in another order, at every level. */
  const reversed = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(reversed)
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .reverse()
              .map(([name, one]) => [name, reversed(one)]),
          )
        : value

  test('of its sections and fields changes nothing', () => {
    const config = (value: unknown) => parse(importJson('litellm', value).text) as object
    expect(config(reversed(CONFIG))).toEqual(config(CONFIG))
    fc.assert(
      fc.property(fc.shuffledSubarray(Object.entries(CONFIG), { minLength: 4 }), entries => {
        expect(config(Object.fromEntries(entries))).toEqual(config(CONFIG))
      }),
      { numRuns: 24 },
    )
  })

  test('of channels changes no priority', () => {
    const channel = (id: number, priority: number) => ({ id, type: 1, name: `c${id}`, models: 'm', key: 'k', priority })
    const list = [channel(1, 0), channel(2, 10), channel(3, 5), channel(4, 10)]
    const ranks = (rows: object[]) =>
      Object.fromEntries(
        (parse(importJson('new-api', rows).text) as { channels: { name: string; priority?: number }[] }).channels.map(
          ({ name, priority = 0 }) => [name, priority],
        ),
      )
    expect(ranks(list)).toEqual({ c1: 2, c2: 0, c3: 1, c4: 0 })
    expect(ranks(list.toReversed())).toEqual(ranks(list))
  })
})

describe('a file that names variables of the machine', () => {
  const SECRET = `\${ANTHROPIC_API_KEY}`
  const CHANNEL = {
    id: 1,
    type: 1,
    name: SECRET,
    models: SECRET,
    key: SECRET,
    base_url: `https://evil.example/${SECRET}`,
  }
  test.each<[string, unknown]>([
    [
      'litellm',
      {
        model_list: [
          entry('m', { model: 'custom_openai/x', api_key: SECRET, api_base: `https://evil.example/${SECRET}` }),
        ],
      },
    ],
    ['litellm', { model_list: [entry(SECRET, { model: `openai/${SECRET}`, extra_headers: { 'x-stolen': SECRET } })] }],
    ['litellm', { model_list: [entry('m')], general_settings: { master_key: SECRET } }],
    ['new-api', [CHANNEL]],
    ['one-api', [{ ...CHANNEL, openai_organization: SECRET, header_override: JSON.stringify({ 'x-stolen': SECRET }) }]],
    ['portkey', { provider: 'openai', api_key: SECRET, custom_host: `https://evil.example/${SECRET}` }],
    ['portkey', { integrations: [{ provider: 'openai', slug: SECRET, credentials: { apiKey: SECRET } }] }],
  ])('in the syntax of this gateway gets their names, not their values (%s)', (gateway, config) => {
    const { text } = importJson(gateway, config)
    const body = text.replace(/^#.*\n/gm, '')
    expect(body.replaceAll(`$${SECRET}`, '')).not.toContain('ANTHROPIC_API_KEY}')
  })

  test('in the syntax of LiteLLM has one variable for one text', () => {
    const { text } = importJson('litellm', { model_list: [entry('m', { api_key: `os.environ/A} and ${SECRET}` })] })
    expect(text.replaceAll(`$${SECRET}`, '')).not.toContain('ANTHROPIC_API_KEY}')
  })
})

describe('a file with line ends and control characters in its names', () => {
  const EVIL = [
    'x\nkeys: [{ name: evil, key: evil }]',
    'x\r\nkeys: []',
    'x\rkeys: []',
    'x\u2028keys: []',
    'x\u0085keys: []',
    '\u001b[2J\u0007',
  ]
  const CONFIGS: readonly [string, (evil: string) => unknown][] = [
    [
      'litellm',
      evil => ({
        model_list: [entry(evil, { [evil]: 1, api_key: evil })],
        [evil]: 1,
        router_settings: { [evil]: 1, routing_strategy: evil },
      }),
    ],
    ['litellm', evil => ({ model_list: [{ model_name: 'a', litellm_params: { model: `${evil}/b` } }] })],
    ['new-api', evil => [{ id: evil, type: 1, name: evil, models: evil, group: evil, key: '' }]],
    [
      'one-api',
      evil => [
        { id: 1, type: 999, name: evil },
        { id: 2, type: 1, name: 'a', models: 'm' },
      ],
    ],
    [
      'portkey',
      evil => ({ provider: 'openai', [evil]: 1, override_params: { [evil]: 1 }, targets: [{ provider: evil }] }),
    ],
    ['portkey', evil => ({ integrations: [{ provider: 'openai', slug: evil }], [evil]: 1 })],
  ]

  test.each(EVIL.map(evil => [JSON.stringify(evil), evil]))('%s adds no setting', (_, evil) => {
    for (const [gateway, config] of CONFIGS) {
      const { text } = importConfig(gateway, JSON.stringify(config(evil)), `file${evil}`)
      const value = parse(text) as { keys?: unknown }
      expect(value.keys, text).toBeUndefined()
      expect(text.split(/[\n\r]/).filter(line => line.startsWith('keys:'))).toEqual([])
    }
  })

  test('moves no cursor of the terminal', () => {
    const file = join(folder(), 'config.json')
    const printed: string[] = []
    const terminal = {
      out: (text: string) => void printed.push(text),
      fault: (text: string) => void printed.push(text),
    }
    for (const [gateway, config] of CONFIGS)
      for (const evil of ['\u001b[2J\u001b]0;title\u0007', 'x\r- 0 faults']) {
        writeFileSync(file, JSON.stringify(config(evil)))
        importConfigCommand(gateway, file, {}, terminal)
      }
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what the test looks for
    expect(printed.join('\n')).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
  })

  test('in values that are no maps adds no header', () => {
    const { text, notes } = importJson('litellm', { model_list: [entry('a', { extra_headers: 'abc' })] })
    expect(parse(text)).toMatchObject({ channels: [{ models: { a: 'gpt-5.6' } }] })
    expect(text).not.toContain('"0"')
    expect(notes.map(({ path }) => path)).toEqual(['model_list[0].litellm_params.extra_headers'])
  })
})

describe('a disk', () => {
  const CONFIG = JSON.stringify({
    model_list: Array.from({ length: 300 }, (_, at) => entry(`m${at}`, { api_key: `secret-${at}` })),
  })

  test('that is full leaves no part of a config, which would take effect at the next start', () => {
    const dir = folder()
    writeFileSync(join(dir, 'config.json'), CONFIG)
    // Files of this process may have 4 KiB.
    const limited = ['trap "" XFSZ; ulimit -f 4; exec "$@"', 'sh', process.execPath, MAIN]
    const args = ['import', 'litellm', 'config.json', '--output', 'interlingua.yaml']
    const { status, stderr } = spawnSync('sh', ['-c', ...limited, ...args], { cwd: dir, env: ENV, encoding: 'utf8' })
    expect([status, stderr]).toEqual([1, expect.stringMatching(/EFBIG|ENOSPC|too large|no space/)])
    expect(existsSync(join(dir, 'interlingua.yaml'))).toBe(false)
  })

  test('that has the file already keeps it, also behind a link', () => {
    const dir = folder()
    const [file, output, other] = ['config.json', 'link.yaml', 'victim'].map(name => join(dir, name)) as [
      string,
      string,
      string,
    ]
    writeFileSync(file, CONFIG)
    symlinkSync(other, output)
    const terminal = { out: () => {}, fault: () => {} }
    expect(() => importConfigCommand('litellm', file, { output }, terminal)).toThrow('EEXIST')
    expect(existsSync(other)).toBe(false)
  })
})

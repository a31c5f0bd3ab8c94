import { existsSync, globSync, readFileSync } from 'node:fs'
import { toJsonSchema } from '@valibot/to-json-schema'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { SIDEBAR } from '../building/site/sidebar.ts'
import { readMatrix } from '../src/commands/conformance-matrix.ts'
import { CONFIG_SCHEMA } from '../src/config/index.ts'
import { readConfig } from '../src/config/read.ts'
import { ROUTES } from '../src/formats/routes.ts'
import { matrixSummary } from '../src/kit/conformance/report/matrix-markdown.ts'
import { STORED_ROUTES } from '../src/server/stored-routes.ts'
import { expectSection } from './generated-page.ts'
import { SETTINGS } from './setting-tables.ts'

/* Checks that the documentation agrees with the code. */

const README = readFileSync('README.md', 'utf8')
const ENDPOINTS = readFileSync('docs/endpoints.md', 'utf8')
const FEATURES = readFileSync('docs/features.md', 'utf8')
const CONFIGURATION = readFileSync('docs/configuration.md', 'utf8')
const DEPENDENCIES = readFileSync('docs/development/dependencies.md', 'utf8')
const EXAMPLE = readFileSync('interlingua.example.yaml', 'utf8')

const quoted = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, word]) => word!)

test('the README has at most 900 words', () => {
  expect(README.split(/\s+/).filter(word => word !== '').length).toBeLessThanOrEqual(900)
})

/** Words that are read in a minute. */
const WORDS_PER_MINUTE = 230

test('ARCHITECTURE and CONTRIBUTING are read in fifteen minutes', () => {
  const words = ['ARCHITECTURE.md', 'CONTRIBUTING.md'].flatMap(page => readFileSync(page, 'utf8').split(/\s+/))
  expect(words.length).toBeLessThanOrEqual(15 * WORDS_PER_MINUTE)
})

test('the README shows the published comparison of gateways', () => {
  expectSection('README.md', 'conformance', `\n${matrixSummary(readMatrix('docs/conformance.json')).join('\n')}\n\n`)
})

test('the pages name every endpoint, and the first config is valid', () => {
  for (const { path } of ROUTES) expect(ENDPOINTS).toContain(path.replace('/v1/messages/count_tokens', '/count_tokens'))
  for (const { path } of STORED_ROUTES) expect(ENDPOINTS + FEATURES).toContain(path.split('/').slice(0, 3).join('/'))
  const [, yaml] = /```yaml\n([\s\S]*?)```/.exec(CONFIGURATION)!
  const env = { DEV_KEY: 'a', OPENAI_API_KEY: 'b', ANTHROPIC_API_KEY: 'c' }
  expect(readConfig(yaml!, env).channels).toHaveLength(3)
})

/** YAML blocks of pages that are no configs of the gateway, by their first key. */
const OTHER_YAML: ReadonlySet<string> = new Set(['name', 'on', 'request', 'version', 'services', 'uses'])

/**
 * Every config of a page, with the page and the variables that it names. `test/docs/clouds.test.ts` has those of
 * clouds.
 */
const CONFIGS = globSync(['*.md', 'docs/!(clouds)/**/*.md', 'docs/*.md']).flatMap(page => {
  const text = readFileSync(page, 'utf8')
  const env = Object.fromEntries([...text.matchAll(/[A-Z]+_[A-Z_]+/g)].map(([name]) => [name, name]))
  return [...text.matchAll(/^( *)```yaml\n([\s\S]*?)^ *```/gm)].flatMap(([, indent, block], index) => {
    const yaml = block!.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
    const [first = ''] = Object.keys((parse(yaml) ?? {}) as object)
    return OTHER_YAML.has(first) ? [] : [[`${page} ${index}`, yaml, env] as const]
  })
})

test.each(CONFIGS)('the config of %s is valid', (_, yaml, env) => {
  readConfig(yaml, env)
})

test('there are configs on many pages', () => expect(CONFIGS.length).toBeGreaterThan(30))

interface Schema {
  readonly properties?: { readonly [name: string]: Schema }
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
}

/** Returns the names of all fields at every depth. */
function fieldsOf({ properties = {}, additionalProperties, items }: Schema): string[] {
  const inner = [...Object.values(properties), additionalProperties, items]
  return [
    ...Object.keys(properties),
    ...inner.flatMap(one => (typeof one === 'object' && one !== null ? fieldsOf(one) : [])),
  ]
}

test('the example has every field there is', () => {
  const schema = toJsonSchema(CONFIG_SCHEMA, { typeMode: 'input', errorMode: 'ignore' }) as Schema
  const missing = new Set(fieldsOf(schema)).values().filter(name => !new RegExp(`\\b${name}:`).test(EXAMPLE))
  expect([...missing].sort()).toEqual([])
})

test('every setting that a page names is one', () => {
  const known = new Set(SETTINGS.map(({ path }) => path.filter(step => step !== '[]' && step !== 'NAME').join('.')))
  const sections = new Set(SETTINGS.map(({ path }) => path[0]!))
  const named = globSync(['*.md', 'docs/**/*.md'])
    .filter(page => !/CHANGELOG|ARCHITECTURE|conformance-kit|decisions|development|wire|formats/.test(page))
    .flatMap(page =>
      quoted(readFileSync(page, 'utf8').replace(/```[\s\S]*?```/g, ''))
        .map(word => word.replaceAll('[]', '').replaceAll('.NAME', ''))
        .filter(word => /^[a-z_]+(\.[a-z_]+)+$/.test(word) && sections.has(word.split('.')[0]!))
        .map(word => ({ page, word })),
    )
  expect(named.length).toBeGreaterThan(200)
  expect(named.filter(({ word }) => !known.has(word))).toEqual([])
})

test('a default that a page states is that of the setting', () => {
  const usual = new Map(SETTINGS.map(one => [one.path.join('.'), one.usual]))
  const stated = globSync(['*.md', 'docs/*.md']).flatMap(page =>
    [
      ...readFileSync(page, 'utf8').matchAll(
        /`([a-z_]+(?:\.[a-z_]+)+)`, (\d+) ?(d|h|m|s)(?:ays|ours|inutes|econds)?\b/g,
      ),
    ].map(([, name, count, unit]) => ({ page, name, value: `${count}${unit}` })),
  )
  expect(stated.length).toBeGreaterThanOrEqual(5)
  expect(stated.filter(({ name, value }) => usual.get(name!) !== value)).toEqual([])
})

test('the page of dependencies says of each why it is there', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly [kind: string]: { readonly [name: string]: string }
  }
  const names = Object.keys({ ...dependencies, ...devDependencies }).filter(
    name => !name.startsWith('@types/') && !name.startsWith('@ai-sdk/'),
  )
  expect(names.filter(name => !quoted(DEPENDENCIES).includes(name))).toEqual([])
})

test('every file that is named is there', () => {
  const files = globSync('{src,test,bench,bin,building,docs,console/src,console/building}/**/*', {
    withFileTypes: false,
  }).map(path => `/${path}/`)
  const named = [...globSync('*.md'), ...globSync('docs/**/*.md')].flatMap(page =>
    quoted(readFileSync(page, 'utf8').replace(/```[\s\S]*?```/g, ''))
      .filter(word =>
        /^(?!ipaddr\.js)[\w/-]+\.(ts|js)$|^(src|test|gateway|egress|ingress|canonical)\/[\w/-]+$/.test(word),
      )
      .map(word => ({ page, word: word.replace(/\/$/, '') })),
  )
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter(({ word }) => !files.some(file => file.endsWith(`/${word}/`)))).toEqual([])
})

test('the messages that the page of troubleshooting explains are those of the gateway', () => {
  const rows = [...readFileSync('docs/guides/troubleshooting.md', 'utf8').matchAll(/^\| ([^|]+) \|/gm)]
  const messages = rows.map(([, message]) => message!).filter(one => one !== 'Message' && !/^-+$/.test(one))
  const code = globSync('src/**/*.ts')
    .map(path => readFileSync(path, 'utf8'))
    .join('\n')
  expect(messages.length).toBeGreaterThan(20)
  const withoutCode = (message: string): string => message.replace('(EADDRINUSE)', `(\${fault.code})`)
  expect(messages.filter(message => !code.includes(withoutCode(message)))).toEqual([])
})

test('the menu of the site has every page, and no other', () => {
  const inMenu = SIDEBAR.flatMap(({ items }) => items.map(({ link }) => `${link.slice(1)}.md`))
  const pages = globSync(['docs/*.md', 'docs/{clouds,development,formats,guides}/*.md']).filter(
    page => !page.endsWith('README.md'),
  )
  expect(pages.filter(page => !inMenu.includes(page))).toEqual([])
  expect(inMenu.filter(page => !existsSync(page))).toEqual([])
})

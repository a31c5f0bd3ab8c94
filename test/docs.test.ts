import { globSync, readFileSync } from 'node:fs'
import { toJsonSchema } from '@valibot/to-json-schema'
import { expect, test } from 'vitest'
import { CONFIG_SCHEMA } from '../src/config/index.ts'
import { readConfig } from '../src/config/read.ts'
import { PRESETS } from '../src/formats/index.ts'
import { ROUTES } from '../src/formats/routes.ts'
import { STORED_ROUTES } from '../src/server/stored-routes.ts'

/* Checks that the documentation agrees with the code. */

const README = readFileSync('README.md', 'utf8')
const ARCHITECTURE = readFileSync('ARCHITECTURE.md', 'utf8')
const EXAMPLE = readFileSync('interlingua.example.yaml', 'utf8')

const quoted = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, word]) => word!)

test('the README names every preset and every endpoint, and its config is valid', () => {
  const [, presets] = /Presets: (.*)/.exec(README)!
  expect(quoted(presets!).sort()).toEqual([...PRESETS.keys()].sort())
  for (const { path } of ROUTES) expect(README).toContain(path.replace('/v1/messages/count_tokens', '/count_tokens'))
  for (const { path } of STORED_ROUTES) expect(README).toContain(path.split('/').slice(0, 3).join('/'))
  const [, yaml] = /```yaml\n([\s\S]*?)```/.exec(README)!
  const env = { DEV_KEY: 'a', OPENAI_API_KEY: 'b', ANTHROPIC_API_KEY: 'c' }
  expect(readConfig(yaml!, env).channels).toHaveLength(3)
})

test('the configs of the page about clouds are valid', () => {
  const page = readFileSync('docs/clouds.md', 'utf8')
  const env = {
    ...{ AWS_BEARER_TOKEN_BEDROCK: 'a', AWS_ACCESS_KEY_ID: 'b', AWS_SECRET_ACCESS_KEY: 'c', AZURE_CLIENT_SECRET: 'd' },
  }
  const configs = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml]) => readConfig(yaml!, env))
  expect(configs.map(({ channels }) => channels.length)).toEqual([3, 2, 2])
})

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

test('the architecture says of every dependency why it is there', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly [kind: string]: { readonly [name: string]: string }
  }
  const names = Object.keys({ ...dependencies, ...devDependencies }).filter(
    name => !name.startsWith('@types/') && !name.startsWith('@ai-sdk/'),
  )
  expect(names.filter(name => !quoted(ARCHITECTURE).includes(name))).toEqual([])
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

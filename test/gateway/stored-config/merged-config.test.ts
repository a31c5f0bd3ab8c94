import fc from 'fast-check'
import { expect, it } from 'vitest'
import { stringify } from 'yaml'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { defaultConfig, readConfig } from '../../../src/config/read.ts'
import { splitSecrets, type Written } from '../../../src/config/secret-fields.ts'
import { mergedConfig, type OpenedEntry } from '../../../src/gateway/stored-config/merged-config.ts'
import { writtenChannel } from '../../builders/written-channels.ts'

const opened = (kind: 'channel' | 'model', name: string, written: Written): OpenedEntry => {
  const { settings, secrets } =
    kind === 'channel' ? splitSecrets({ ...written, name }) : { settings: written, secrets: new Map() }
  return { entry: { kind, name, settings: settings as JsonObject, createdAt: 1, updatedAt: 2 }, secrets }
}

const facts: fc.Arbitrary<Written> = fc.record(
  {
    price: fc.constantFrom({ input: 1 }, { input: 2, output: '3' }),
    fallbacks: fc.constantFrom(['x'], [{ model: 'y', on: ['failure'] }, 'z']),
    order: fc.constantFrom('cost', 'latency', 'weight'),
    context: fc.constantFrom(1000, '2000'),
  },
  { requiredKeys: [] },
)

const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 5 })
const half = <T>(value: fc.Arbitrary<T>) =>
  names.chain(all => fc.tuple(...all.map(name => fc.tuple(fc.constant(name), value, fc.boolean()))))

/** Values of a text in the file, in which variables would be replaced. */
const literal = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll('${', () => '$${'))

it('a config split between file and store is the same as in one file', () => {
  fc.assert(
    fc.property(
      half(writtenChannel),
      half(facts),
      fc.constantFrom(undefined, 'http://127.0.0.1:3128'),
      (channels, models, proxy) => {
        const listed = (inFile: boolean) => channels.filter(([, , isInFile]) => isInFile === inFile)
        const textOf = (all: typeof channels, settings: typeof models): string =>
          stringify(
            literal({
              ...(proxy === undefined ? {} : { proxy }),
              channels: all.map(([name, written]) => ({ ...written, name })),
              models: Object.fromEntries(settings.map(([id, written]) => [id, written])),
            }),
          )
        const stored = [
          ...listed(false).map(([name, written]) => opened('channel', name, written)),
          ...models.filter(([, , isInFile]) => !isInFile).map(([id, written]) => opened('model', id, written)),
        ]
        const file = readConfig(
          textOf(
            listed(true),
            models.filter(([, , isInFile]) => isInFile),
          ),
          {},
        )
        const { config, rows } = mergedConfig(file, stored, {})
        expect(rows.flatMap(({ faults }) => faults)).toEqual([])
        expect(config).toEqual(readConfig(textOf([...listed(true), ...listed(false)], models), {}))
      },
    ),
  )
})

it('the file wins over the store, and the store over the environment and the demo', () => {
  const entry = opened('channel', 'openai', { provider: 'openai', key: 'stored', models: ['s'] })
  const file = readConfig('channels: [{ name: openai, provider: openai, key: of-the-file }]', {})
  const shadowed = mergedConfig(file, [entry], {})
  expect(shadowed.rows).toMatchObject([{ isShadowed: true, faults: [] }])
  expect(shadowed.config.channels).toEqual(file.channels)

  const env = { OPENAI_API_KEY: 'of-the-environment', GROQ_API_KEY: 'g' }
  const { config } = mergedConfig(defaultConfig(env), [entry], env)
  expect(config.channels.map(({ name, key }) => [name, key])).toEqual([
    ['groq', 'g'],
    ['openai', 'stored'],
  ])
  expect(mergedConfig(defaultConfig({}), [], {}).config.channels.map(({ name }) => name)).toEqual(['replay'])
  expect(mergedConfig(defaultConfig({}), [entry], {}).config.channels.map(({ name }) => name)).toEqual(['openai'])
  const faulty = opened('channel', 'odd', { provider: 'unheard-of' })
  expect(mergedConfig(defaultConfig({}), [faulty], {})).toMatchObject({
    config: { channels: [] },
    rows: [{ faults: [{ path: ['provider'] }] }],
  })
})

it('a stored key of the environment is found where the gateway runs, or the channel alone has a fault', () => {
  const entry = opened('channel', 'mine', { provider: 'groq', models: ['m'] })
  const other = opened('channel', 'other', { provider: 'groq', key: 'k', models: ['m'] })
  const file = readConfig('channels: []', {})
  expect(mergedConfig(file, [entry], { GROQ_API_KEY: 'g' }).config.channels).toMatchObject([{ name: 'mine', key: 'g' }])
  const { config, rows } = mergedConfig(file, [entry, other], {})
  expect(config.channels).toMatchObject([{ name: 'other' }])
  expect(rows[0]!.faults).toMatchObject([
    { path: ['key'], message: expect.stringContaining('GROQ_API_KEY is not set') },
  ])
})

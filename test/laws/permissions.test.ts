import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Permissions, permissionsOf } from '../../src/accounts/permissions.ts'
import { GatewayError } from '../../src/canonical/error.ts'
import type { GroupConfig, KeySettings, LimitSettings } from '../../src/config/types.ts'
import { CALLER_FORMATS, FORMAT_FACTS } from '../../src/formats/index.ts'
import { checkModelFields } from '../../src/gateway/named-models.ts'
import { type RoutedChannel, route, usableModels } from '../../src/upstreams/router.ts'
import { channelAt } from '../builders/config.ts'

const MODELS = ['gpt-1', 'gpt-2', 'claude', 'a/b']
const CHANNELS = ['one', 'two', 'three']

const models = fc.subarray(['*', 'gpt-*', ...MODELS])
const doors = fc.subarray([...CALLER_FORMATS.keys()])
const limit = fc.option(fc.nat(9), { nil: undefined })
const limits: fc.Arbitrary<LimitSettings> = fc
  .record({ rpm: limit, tpm: limit, concurrent: limit, day: limit, month: limit })
  .map(({ day, month, ...rest }) => JSON.parse(JSON.stringify({ ...rest, budget: { day, month } })) as LimitSettings)

const group: fc.Arbitrary<GroupConfig> = fc
  .record({ models, doors, channels: fc.subarray(['*', 't*', ...CHANNELS]) }, { requiredKeys: ['models'] })
  .chain(fields => limits.map(limits => ({ ...fields, limits, name: 'g', onLoss: 'show' as const })))
const key: fc.Arbitrary<KeySettings> = fc
  .record({ models, doors }, { requiredKeys: [] })
  .chain(fields => limits.map(limits => ({ ...fields, limits, enabled: true })))

const channels: fc.Arbitrary<readonly RoutedChannel[]> = fc
  .array(
    fc.record({
      formats: fc.subarray([...FORMAT_FACTS.keys()], { minLength: 1 }),
      named: fc.subarray(MODELS),
      patterns: fc.subarray(['*', 'gpt-*']),
      listed: fc.option(fc.subarray(MODELS), { nil: undefined }),
      lacks: fc.subarray(['compaction', 'count', 'conversation']),
    }),
    { maxLength: CHANNELS.length },
  )
  .map(rows =>
    rows.map(({ formats, named, patterns, listed, lacks }, index) => {
      const config = channelAt('http://127.0.0.1:1', { name: CHANNELS[index]! })
      const dialect = Object.fromEntries(lacks.map(work => [work, false]))
      return {
        config: {
          ...config,
          formats: formats.map(format => ({ ...config.formats[0]!, format, dialect })),
          models: { named: new Map(named.map(name => [name, name])), patterns },
        },
        health: { inFlight: 0, ...(listed === undefined ? {} : { listed: new Set(listed) }) },
      }
    }),
  )

/** Whether the key can get an answer of the model at some endpoint. */
const isAnswered = (model: string, permissions: Permissions, all: readonly RoutedChannel[], cascades: boolean) =>
  [...CALLER_FORMATS].some(([door, works]) =>
    works.some(work => {
      if (!permissions.allowsFormat(door)) return false
      try {
        const targets = route({ model, format: door, work, permissions, now: 0, draw: 'x' }, all)
        for (const { channel } of targets) expect(permissions.allowsChannel(channel.name)).toBe(true)
        return work !== 'realtime' || cascades || targets.some(({ emulated }) => !emulated)
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(GatewayError)
        return false
      }
    }),
  )

const names = ({ config: { models }, health }: RoutedChannel, model: string): boolean =>
  models.named.has(model) || (models.patterns.length > 0 && health.listed?.has(model) === true)

test('a model is listed exactly if a format that the key may use has a channel with the model', () => {
  fc.assert(
    fc.property(key, group, channels, fc.boolean(), (one, of, all, cascades) => {
      const permissions = permissionsOf(one, of)
      const listed = new Set(usableModels(permissions, all, cascades).map(({ id }) => id))
      for (const model of MODELS) {
        const named = all.some(channel => names(channel, model) && isAnswered(model, permissions, [channel], cascades))
        expect(listed.has(model), model).toBe(named)
        const answered = isAnswered(model, permissions, all, cascades)
        if (named) expect(answered, model).toBe(true)
        // More models are answered than listed only while an upstream's list is unknown.
        if (answered && all.every(({ health }) => health.listed !== undefined)) expect(named, model).toBe(true)
      }
    }),
  )
})

test('a model beside that of a request is permitted exactly if the request could be for it', () => {
  fc.assert(
    fc.property(key, group, fc.constantFrom(...MODELS), (one, of, model) => {
      const permissions = permissionsOf(one, of)
      const check = () => checkModelFields('chat', { body: { model: 'x', models: [model] } }, 'x', permissions)
      if (permissions.allowsModel(model)) expect(check).not.toThrow()
      else expect(check).toThrow(`may not use the model "${model}"`)
    }),
  )
})

test('a key may do what it and its group allow, within the smaller of each limit', () => {
  fc.assert(
    fc.property(key, group, (one, of) => {
      const both = permissionsOf(one, of)
      const alone = permissionsOf(one, { ...of, models: ['*'], doors: [...CALLER_FORMATS.keys()], limits: {} })
      const free = permissionsOf({ limits: {}, enabled: true }, of)
      for (const model of MODELS)
        expect(both.allowsModel(model)).toBe(alone.allowsModel(model) && free.allowsModel(model))
      for (const door of CALLER_FORMATS.keys())
        expect(both.allowsFormat(door)).toBe(alone.allowsFormat(door) && free.allowsFormat(door))
      const smaller = (a = Number.POSITIVE_INFINITY, b = Number.POSITIVE_INFINITY) => Math.min(a, b)
      for (const name of ['rpm', 'tpm', 'concurrent'] as const)
        expect(smaller(both.limits[name])).toBe(smaller(one.limits[name], of.limits[name]))
      for (const period of ['day', 'month'] as const)
        expect(smaller(both.limits.budget?.[period])).toBe(
          smaller(one.limits.budget?.[period], of.limits.budget?.[period]),
        )
    }),
  )
})

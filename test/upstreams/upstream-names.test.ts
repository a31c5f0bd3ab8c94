import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matches } from '../../src/config/glob.ts'
import { readConfig } from '../../src/config/read.ts'
import { route, usableModels } from '../../src/upstreams/router.ts'
import { publicNamesOf, upstreamNameOf } from '../../src/upstreams/upstream-names.ts'
import { permitting } from '../builders/permissions.ts'

/* A pattern of a map names the models of an upstream anew, and widens nothing (docs/configuration.md#patterns). */

const channelsOf = (...models: object[]) =>
  readConfig(
    JSON.stringify({
      channels: models.map((one, index) => ({
        ...{ name: `c${index}`, provider: 'custom', formats: ['chat'], base_url: 'http://127.0.0.1:9', models: one },
      })),
    }),
    {},
  ).channels.map(config => ({ config, health: { inFlight: 0 } }))

const tried = (model: string, channels: ReturnType<typeof channelsOf>): string[] =>
  route({ model, format: 'chat', work: 'conversation', permissions: permitting('*'), now: 1, draw: 'r' }, channels).map(
    ({ channel, upstreamModel }) => `${channel.name}: ${upstreamModel}`,
  )

describe('a pattern with another name', () => {
  test('removes a prefix, and leads no other name to its channel', () => {
    const channels = channelsOf({ 'openai/*': '*' }, { 'claude-opus-4-8': 'claude-opus-4-8' })
    expect(tried('openai/gpt-4.1', channels)).toEqual(['c0: gpt-4.1'])
    expect(tried('claude-opus-4-8', channels)).toEqual(['c1: claude-opus-4-8'])
    for (const model of ['gpt-4.1', 'openai/', 'openai/.', 'azure/gpt-4.1', 'claude-opus-5'])
      expect(() => tried(model, channels)).toThrow(/does not exist|must be the name/)
  })

  test('may stand for one model, beside names', () => {
    const channels = channelsOf({ 'gpt-*': 'qwen3-coder', small: 'qwen3-4b' })
    expect(tried('gpt-5.6', channels)).toEqual(['c0: qwen3-coder'])
    expect(tried('small', channels)).toEqual(['c0: qwen3-4b'])
  })

  test('lists the models of the upstream under their public names, and has only these', () => {
    const [channel] = channelsOf({ 'openai/gpt-*': 'gpt-*', 'any-*': 'o3' })
    const listed = { config: channel!.config, health: { inFlight: 0, listed: new Set(['gpt-5.6', 'o3', 'tts-1']) } }
    expect(usableModels(permitting('*'), [listed]).map(({ id }) => id)).toEqual(['openai/gpt-5.6'])
    expect(tried('openai/gpt-5.6', [listed])).toEqual(['c0: gpt-5.6'])
    expect(tried('any-model', [listed])).toEqual(['c0: o3'])
    expect(() => tried('openai/gpt-4', [listed])).toThrow('does not exist')
  })

  test('that stands for one model needs no list, and one of several parts lists names as they are', () => {
    const [channel] = channelsOf({ 'any-*': 'unlisted' })
    const listed = { config: channel!.config, health: { inFlight: 0, listed: new Set(['a1b2']) } }
    expect(tried('any-model', [listed])).toEqual(['c0: unlisted'])
    expect(publicNamesOf({ named: new Map(), patterns: ['a*b*'] }, 'a1b2')).toEqual(['a1b2'])
  })

  test.each([
    [{ a: '*' }, '"*" has a `*` that the name lacks'],
    [{ 'a/*': '*/*' }, '"*/*" has a `*` that the name lacks'],
    [{ '*/*': '*' }, 'a pattern with a different upstream name can have only one `*`'],
  ])('that cannot work is refused: %j', (models, message) => {
    expect(() => channelsOf(models)).toThrow(message)
  })
})

const part = fc.stringMatching(/^[a-z/-]{0,3}$/)
const pattern = fc.tuple(part, part).map(([before, after]) => `${before}*${after}`)
const name = fc.stringMatching(/^[a-z][a-z/-]{0,8}$/)

test('public and upstream names of a pattern are one to one, and only names that match have one', () => {
  fc.assert(
    fc.property(pattern, pattern, name, (from, to, model) => {
      const models = { named: new Map<string, string>(), patterns: [from], renamed: new Map([[from, to]]) }
      const upstream = upstreamNameOf(models, model)
      if (!matches(from, model)) expect(upstream).toBeUndefined()
      else if (upstream !== undefined)
        expect([matches(to, upstream), publicNamesOf(models, upstream)]).toEqual([true, [model]])
    }),
  )
})

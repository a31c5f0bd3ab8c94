import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import type { Work } from '../../src/canonical/work.ts'
import type { ChannelConfig } from '../../src/config/index.ts'
import { fitnessOf, FORMAT_FACTS as WORK_FORMATS } from '../../src/formats/index.ts'
import { voiceSessionTargets } from '../../src/gateway/realtime/voice-session-targets.ts'
import { type RoutedChannel, type RouteRequest, route, usableModels } from '../../src/upstreams/router.ts'
import { permitting } from '../builders/permissions.ts'

const FORMATS = ['chat', 'responses', 'messages', 'contents', 'embeddings']
const IDS = ['a', 'b', 'gpt-1', 'gpt-2']
const NOW = 1_000_000

const channel: fc.Arbitrary<Omit<RoutedChannel, 'config'> & { config: Omit<ChannelConfig, 'name'> }> = fc.record({
  config: fc.record({
    provider: fc.constant('custom'),
    formats: fc.uniqueArray(fc.constantFrom(...FORMATS), { minLength: 1 }).map(formats =>
      formats.map(format => ({
        format,
        baseUrl: 'http://u',
        auth: 'none' as const,
        headers: {},
        query: {},
        dialect: {},
      })),
    ),
    models: fc.record({
      named: fc.uniqueArray(fc.constantFrom(...IDS)).map(ids => new Map(ids.map(id => [id, `up-${id}`]))),
      patterns: fc.constantFrom<string[]>([], ['*'], ['gpt-*']),
    }),
    priority: fc.constantFrom(0, 1),
    weight: fc.constantFrom(0, 1, 3),
    timeout: fc.constant({ connect: 1, firstByte: 1, idle: 1 }),
    maxConcurrent: fc.constantFrom(2, 5),
    allowHeaders: fc.constant([]),
    betas: fc.constant('none' as const),
  }),
  health: fc.record(
    {
      inFlight: fc.constantFrom(0, 2),
      restingUntil: fc.constantFrom(0, NOW, NOW + 3000),
      resting: fc
        .uniqueArray(fc.constantFrom(...IDS, ...IDS.map(id => `up-${id}`)))
        .chain(ids => fc.tuple(...ids.map(id => fc.tuple(fc.constant(id), fc.constantFrom(NOW, NOW + 3000)))))
        .map(entries => new Map(entries)),
      listed: fc.uniqueArray(fc.constantFrom(...IDS)).map(ids => new Set(ids)),
    },
    { requiredKeys: ['inFlight'] },
  ),
})

const channels: fc.Arbitrary<RoutedChannel[]> = fc
  .array(channel, { maxLength: 6 })
  .map(list => list.map((one, index) => ({ ...one, config: { ...one.config, name: `c${index}` } })))

const losses = (format: { format: string }): number => format.format.length
const request: fc.Arbitrary<RouteRequest> = fc
  .record({
    model: fc.constantFrom(...IDS, 'unknown'),
    format: fc.constantFrom(...FORMATS),
    permissions: fc.constantFrom(permitting('*'), permitting('gpt-*'), permitting('a', 'b')),
    now: fc.constant(NOW),
    draw: fc.string(),
    losses: fc.constant(losses),
  })
  .map(asked => ({ ...asked, work: workAt(asked.format) }))

/** Returns the main work of a format. */
const workAt = (format: string): Work => WORK_FORMATS.get(format)!.does[0]!

const SPOKEN = ['realtime', 'live']
const VOICES = ['gpt-realtime', 'prod-01', 'my-deployment', 'qwen3-omni-flash', 'gpt-4o', 'native-audio']

/** Returns a channel of these formats that only does sessions. */
const onlySpoken = (formats: ChannelConfig['formats']): ChannelConfig['formats'] =>
  formats.filter(({ format }) => SPOKEN.includes(format))

/** Returns the order as names, or the kind of the error. */
function outcome(asked: RouteRequest, list: readonly RoutedChannel[]): unknown {
  try {
    return route(asked, list).map(({ channel, format, upstreamModel, native }) => [
      channel.name,
      format.format,
      upstreamModel,
      native,
    ])
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown.error
    throw thrown
  }
}

const without = ({ restingUntil: _, resting: __, ...health }: RoutedChannel['health']): RoutedChannel['health'] => ({
  ...health,
  inFlight: 0,
})

/** Whether a channel rests, by definition instead of by the router's own code. */
const isResting = ({ restingUntil, resting }: RoutedChannel['health'], model: string): boolean =>
  [restingUntil, resting?.get(model)].some(until => until !== undefined && until > NOW)

/** Returns the targets. Undefined if the request is refused. */
function routed(asked: RouteRequest, list: readonly RoutedChannel[]): ReturnType<typeof route> | undefined {
  try {
    return route(asked, list)
  } catch {
    return undefined
  }
}

const healthOf = (list: readonly RoutedChannel[], { name }: ChannelConfig): RoutedChannel['health'] =>
  list.find(({ config }) => config.name === name)!.health

describe('law 20: routing', () => {
  it('is pure: the same question has the same answer, and channels stay as they are', () => {
    fc.assert(
      fc.property(request, channels, (asked, list) => {
        const before = structuredClone(list)
        const first = outcome(asked, list)
        expect(outcome(asked, list)).toEqual(first)
        expect(list).toEqual(before)
      }),
    )
  })

  it('does not care in which order channels are configured', () => {
    fc.assert(
      fc.property(
        request,
        channels.chain(list => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length }))),
        (asked, [list, shuffled]) => {
          expect(outcome(asked, shuffled)).toEqual(outcome(asked, list))
        },
      ),
    )
  })

  it('does not care for a channel that cannot be used', () => {
    fc.assert(
      fc.property(request, channels, channel, fc.nat(), (asked, list, extra, place) => {
        const none = { ...extra.config, name: 'extra', models: { named: new Map<string, string>(), patterns: [] } }
        const at = place % (list.length + 1)
        expect(outcome(asked, [...list.slice(0, at), { ...extra, config: none }, ...list.slice(at)])).toEqual(
          outcome(asked, list),
        )
      }),
    )
  })

  it('never offers a channel that is full, nor one twice', () => {
    fc.assert(
      fc.property(request, channels, (asked, list) => {
        const found = routed(asked, list)
        if (found === undefined) return
        expect(found.length).toBeGreaterThan(0)
        expect(new Set(found.map(({ channel }) => channel.name)).size).toBe(found.length)
        for (const { channel } of found) expect(healthOf(list, channel).inFlight).toBeLessThan(channel.maxConcurrent!)
      }),
    )
  })

  it('trap 100: offers what rests behind all that is well, and leaves nothing out for it', () => {
    fc.assert(
      fc.property(request, channels, (asked, list) => {
        const found = routed(asked, list) ?? []
        const resting = found.map(({ channel, upstreamModel }) => isResting(healthOf(list, channel), upstreamModel))
        expect(resting).toEqual([...resting].sort())
        const awake = list.map(({ config, health: { restingUntil: _, resting: __, ...health } }) => ({
          config,
          health,
        }))
        const names = (of: typeof found): string[] => of.map(({ channel }) => channel.name)
        const wanted = names(routed(asked, awake) ?? [])
        expect(names(found).toSorted()).toEqual(wanted.toSorted())
        const well = names(found.filter((_, index) => resting[index] !== true))
        expect(well).toEqual(wanted.filter(name => well.includes(name)))
      }),
    )
  })

  it('trap 100: another model of a channel is not concerned', () => {
    fc.assert(
      fc.property(request, channels, (asked, list) => {
        const others = list.map(one => ({
          ...one,
          health: {
            ...one.health,
            resting: new Map([
              ['elsewhere', NOW + 3000],
              ['up-elsewhere', NOW + 3000],
            ]),
          },
        }))
        const none = list.map(one => ({ ...one, health: { ...one.health, resting: new Map() } }))
        expect(outcome(asked, others)).toEqual(outcome(asked, none))
      }),
    )
  })

  it('routes every listed model at an endpoint of each listed format once the channels work', () => {
    fc.assert(
      fc.property(request, channels, (asked, list) => {
        const well = list.map(one => ({ ...one, health: without(one.health) }))
        for (const { id, formats } of usableModels(asked.permissions, list))
          for (const format of formats) {
            const [best] = route({ ...asked, model: id, format, work: workAt(format) }, well)
            expect(best?.channel.formats).toContainEqual(best?.format)
          }
      }),
    )
  })

  it('lists what it routes, for channels whose models are known', () => {
    fc.assert(
      fc.property(request, channels, (asked, list) => {
        const known = list.map(one => ({ ...one, health: { listed: new Set<string>(), ...without(one.health) } }))
        const listed = usableModels(asked.permissions, known).map(({ id }) => id)
        expect(Array.isArray(outcome(asked, known))).toBe(
          listed.includes(asked.model) &&
            usableModels(asked.permissions, known).some(
              ({ id, formats }) =>
                id === asked.model && formats.some(format => fitnessOf(format, asked.work) !== undefined),
            ),
        )
      }),
    )
  })

  it('has sessions where the formats of channels say, whatever their models are called', () => {
    const names = fc.uniqueArray(fc.oneof(fc.constantFrom(...VOICES), fc.string({ minLength: 1 })), {
      minLength: IDS.length,
      maxLength: IDS.length,
    })
    const held = (asked: RouteRequest, list: readonly RoutedChannel[]): unknown => {
      const session = { ...asked, format: 'realtime', work: 'realtime' as const }
      const targets = routed(session, list) ?? []
      return voiceSessionTargets(targets, { cascades: true, facts: undefined, about: () => ({}) }).map(
        ({ channel, format, emulated, native }) => [channel.name, format.format, emulated, native],
      )
    }
    fc.assert(
      fc.property(
        request,
        channels,
        fc.array(fc.subarray(SPOKEN), { maxLength: 6 }),
        names,
        (asked, list, spoken, to) => {
          const calling = (upstream: (id: string) => string): RoutedChannel[] =>
            list.map(({ config, health }, index) => ({
              config: {
                ...config,
                formats: [
                  ...config.formats,
                  ...(spoken[index] ?? []).map(format => ({ ...config.formats[0]!, format })),
                ],
                models: {
                  ...config.models,
                  named: new Map([...config.models.named.keys()].map(id => [id, upstream(id)])),
                },
              },
              health: without(health),
            }))
          const renamed = calling(id => to[IDS.indexOf(id)]!)
          expect(held(asked, renamed)).toEqual(
            held(
              asked,
              calling(id => `up-${id}`),
            ),
          )
          const speaking = renamed.map(one => ({
            ...one,
            config: { ...one.config, formats: onlySpoken(one.config.formats) },
          }))
          expect(held(asked, speaking)).toEqual(
            (routed({ ...asked, format: 'realtime', work: 'realtime' }, speaking) ?? []).map(
              ({ channel, format, native }) => [channel.name, format.format, false, native],
            ),
          )
        },
      ),
    )
  })
})

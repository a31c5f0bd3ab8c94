import { describe, expect, test } from 'vitest'
import { readConfig } from '../../../src/config/read.ts'
import { routeCount } from '../../../src/gateway/emulations/counting.ts'
import { type ChannelHealth, type RoutedChannel, type RouteRequest, route } from '../../../src/upstreams/router.ts'
import { permitting } from '../../builders/permissions.ts'

const CONFIG = `channels:
  - { provider: custom, base_url: "http://127.0.0.1:9", name: a, formats: [messages], models: [m], max_concurrent: 2 }`

const channelsWith = (health: ChannelHealth): RoutedChannel[] =>
  readConfig(CONFIG, {}).channels.map(config => ({ config, health }))

const request: RouteRequest = {
  ...{ model: 'm', format: 'messages', work: 'count', permissions: permitting('*') },
  ...{ now: 1_000_000, draw: 'request-1' },
}

describe('a token count', () => {
  test('is routed to a full channel, because the gateway can estimate it', () => {
    const full = channelsWith({ inFlight: 2 })
    expect(() => route(request, full)).toThrow()
    expect(routeCount(request, full).map(({ channel }) => channel.name)).toEqual(['a'])
  })

  test('is refused where every channel is drained', () => {
    expect(() => routeCount(request, channelsWith({ inFlight: 0, drained: true }))).toThrow()
  })

  test('is refused for an unknown model', () => {
    expect(() => routeCount({ ...request, model: 'other' }, channelsWith({ inFlight: 2 }))).toThrow('other')
  })
})

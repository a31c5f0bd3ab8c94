import type { ChannelConfig } from '../../src/config/index.ts'
import { closingAfterEach } from './closing.ts'
import { type ChannelFields, channelAt, type TestServerOptions } from './config.ts'
import { TestServer } from './gateway.ts'
import { FakeUpstream, type Script } from './upstream.ts'

/** A channel: the answer of its upstream, and fields of its config. */
export type Row = ChannelFields & { script: Script }

/** Opens upstreams and gateways for the tests of one file. Closes them after each test, the last first. */
export function opener() {
  const closing = closingAfterEach()

  const openUpstream = async (script: Script): Promise<FakeUpstream> => {
    const upstream = await FakeUpstream.open(script)
    closing.push(() => upstream.close())
    return upstream
  }

  const openGateway = async (
    channels: readonly ChannelConfig[],
    options: TestServerOptions = {},
  ): Promise<TestServer> => {
    const testServer = await TestServer.open(channels, options)
    closing.push(() => testServer.server.close(0))
    return testServer
  }

  /** Opens a gateway with one upstream. `fields` belong to the channel between them. */
  const open = async (script: Script, options: TestServerOptions = {}, fields: ChannelFields = {}) => {
    const upstream = await openUpstream(script)
    const testServer = await openGateway([channelAt(upstream.address, fields)], options)
    return { testServer, upstream }
  }

  /** Opens a gateway with one channel per row, each with its own upstream. */
  const openRows = async (rows: readonly Row[], options: TestServerOptions = {}) => {
    const upstreams = await Promise.all(rows.map(({ script }) => openUpstream(script)))
    const channels = rows.map(({ script: _, ...fields }, index) =>
      channelAt(upstreams[index]!.address, { name: `channel-${index}`, ...fields }),
    )
    return { testServer: await openGateway(channels, options), upstreams }
  }

  return { closing, openUpstream, openGateway, open, openRows }
}

import { afterEach } from 'vitest'
import { channelAt, type HouseOptions } from './config.ts'
import { House } from './gateway.ts'
import { FakeUpstream, type Script } from './upstream.ts'

/** Opens gateways before an upstream each, for the tests of one file: whatever is in `closing` ends behind each of them. */
export function opener() {
  const closing: (() => unknown)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })
  const open = async (script: Script, options: HouseOptions = {}) => {
    const upstream = await FakeUpstream.open(script)
    const house = await House.open([channelAt(upstream.address)], options)
    closing.push(
      () => upstream.close(),
      () => house.server.close(0),
    )
    return { house, upstream }
  }
  return { closing, open }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { AGAINST_BARE, type Cell } from './cells.ts'
import { Load } from './load.ts'
import { shotOf } from './measure.ts'
import { openSetup, type Setup, type Side } from './setup.ts'

const STREAMS = 500
/** Time between two readings, in milliseconds. */
const EVERY = 5000

const CELL: Cell = {
  name: 'soak',
  kind: 'event',
  caller: 'chat',
  upstream: 'messages',
  mode: 'paced-2s',
  ...{ events: 100, image: false, lanes: 1, floor: 0, goal: 0, by: 'ratio', sides: AGAINST_BARE },
}

/**
 * Prints the memory of the gateway while streams open and close, and while one reader of a long stream has stopped
 * reading.
 */
export async function soak(seconds: number): Promise<void> {
  const setup = await openSetup({ sides: ['gateway'], profile: undefined })
  try {
    await churn(setup, seconds)
    await slowReader(setup)
  } finally {
    await setup.close()
  }
}

async function churn(setup: Setup, seconds: number): Promise<void> {
  const gateway = setup.side('gateway')
  const load = new Load(gateway.origin)
  const shot = shotOf(CELL, gateway)
  let stopped = false
  let whole = 0
  const openStream = (): void => {
    if (!stopped) load.open(shot, () => {}, ended)
  }
  const ended = (): void => {
    whole++
    openStream()
  }
  for (let index = 0; index < STREAMS; index++) {
    openStream()
    await sleep(4)
  }
  for (let at = 0; at < seconds * 1000; at += EVERY) {
    await sleep(EVERY)
    await printMemory(`${STREAMS} streams after ${(at + EVERY) / 1000} s, ${whole} came whole`, gateway)
  }
  stopped = true
  await sleep(3000)
  await load.close()
  await printMemory('with none', gateway)
}

/** Opens a stream of about 20 MB whose reader stops reading. */
async function slowReader(setup: Setup): Promise<void> {
  const gateway = setup.side('gateway')
  const load = new Load(gateway.origin)
  let bytes = 0
  const stream = load.open(shotOf({ ...CELL, mode: 'flood' }, gateway), size => void (bytes += size))
  await sleep(20)
  stream.pause()
  for (let reading = 0; reading < 4; reading++) {
    await sleep(1000)
    await printMemory(`a reader who stopped at ${(bytes / 1e6).toFixed(1)} MB`, gateway)
  }
  stream.resume()
  await sleep(4000)
  await printMemory(`and went on to ${(bytes / 1e6).toFixed(1)} MB`, gateway)
  await load.close()
}

async function printMemory(label: string, proxy: Side): Promise<void> {
  const { rss, heap } = await proxy.readClean()
  console.log(`${label.padEnd(48)} rss ${(rss / 1e6).toFixed(0)} MB, heap ${(heap / 1e6).toFixed(1)} MB`)
}

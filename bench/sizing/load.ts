import { setTimeout as sleep } from 'node:timers/promises'
import { cellOf } from '../cells.ts'
import { median, percentile99 } from '../estimate.ts'
import { Load } from '../load.ts'
import { shotOf } from '../measure.ts'

/*
 * The load of the sizing, in a process of its own. `sizing/load.ts WORK COUNT MILLISECONDS ORIGIN…` reports what was
 * done over IPC.
 */

/** Report of the load: the number of requests or events, and times to the answer in milliseconds. */
export interface Done {
  readonly count: number
  readonly p50: number
  readonly p99: number
}

const GATEWAY = { name: 'gateway' } as const
const WHOLE = shotOf(cellOf('whole', 'request'), GATEWAY)
const PACED = shotOf(cellOf('paced-50', 'paced'), GATEWAY)
const OPEN = shotOf(cellOf('open', 'memory'), GATEWAY)

type Work = (loads: readonly Load[], count: number, milliseconds: number) => Promise<Done>

const counted = (count: number): Done => ({ count, p50: 0, p99: 0 })

/** Keeps `count` requests in flight. */
const requests: Work = async (loads, count, milliseconds) => {
  const done = await Promise.all(loads.map(load => load.many(WHOLE, count / loads.length, milliseconds)))
  return counted(done.reduce((sum, one) => sum + one, 0))
}

/** Sends `count` requests a second, whether earlier ones are answered or not, and measures how long each takes. */
const latency: Work = async (loads, count, milliseconds) => {
  const times: number[] = []
  const sent: Promise<void>[] = []
  const began = performance.now()
  for (let number = 0; performance.now() - began < milliseconds; number++) {
    const due = began + (number * 1000) / count
    if (due > performance.now()) await sleep(due - performance.now())
    const at = performance.now()
    sent.push(loads[number % loads.length]!.one(WHOLE).then(() => void times.push(performance.now() - at)))
  }
  await Promise.all(sent)
  const sorted = times.toSorted((a, b) => a - b)
  return { count: times.length, p50: median(times), p99: percentile99(sorted) }
}

/** Opens `count` streams one by one, and counts their events once all are open. */
const streams =
  (shot: typeof PACED): Work =>
  async (loads, count, milliseconds) => {
    let [events, isCounting] = [0, false]
    const seen = (): void => {
      if (isCounting) events++
    }
    const open = []
    for (let number = 0; number < count; number++) {
      open.push(loads[number % loads.length]!.open(shot, seen))
      await sleep(3)
    }
    await sleep(500)
    process.send?.('open')
    isCounting = true
    await sleep(milliseconds)
    isCounting = false
    process.send?.('done')
    await sleep(200)
    for (const stream of open) stream.close()
    return counted(events)
  }

const WORK: { readonly [name: string]: Work } = { requests, latency, paced: streams(PACED), open: streams(OPEN) }

const [work, count, milliseconds, ...origins] = process.argv.slice(2)
const loads = origins.map(origin => new Load(origin))
const done = await WORK[work!]!(loads, Number(count), Number(milliseconds))
await Promise.all(loads.map(load => load.close()))
process.send?.(done)
process.disconnect?.()

import { AGAINST_BARE, type Cell } from './cells.ts'
import { Load } from './load.ts'
import { shotOf } from './measure.ts'

/*
 * Sends the load for the workers from a process of its own. `workers-load.ts ORIGIN LANES MILLISECONDS` reports over
 * IPC how many requests were answered.
 */

const CELL: Cell = {
  ...{ name: 'workers', kind: 'request', caller: 'chat', upstream: 'messages', mode: 'whole' },
  ...{ events: 0, image: false, lanes: 1, floor: 0, goal: 0, by: 'ratio', sides: AGAINST_BARE },
}

const [origin, lanes, milliseconds] = process.argv.slice(2)
const load = new Load(origin!)
const done = await load.many(shotOf(CELL, { name: 'gateway' }), Number(lanes), Number(milliseconds))
await load.close()
process.send?.(done)
process.disconnect?.()

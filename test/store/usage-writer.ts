import { openStore } from '../../src/store/store.ts'
import { traffic } from '../builders/usage.ts'

/*
 * A process that records usage until it is killed: `node usage-writer.ts ENGINE PLACE`. Prints the total number of
 * stored rows after each batch.
 */

const [engine, place] = process.argv.slice(2) as [string, string]
const store = await openStore(engine === 'sqlite' ? { engine, path: place } : { engine: 'postgres', url: place })
const since = Date.now() - 3_600_000
const rows = [...traffic(100_000, { since, until: since + 60_000, keys: 5, models: 5, channels: 2 })]
for (let at = 0; at < rows.length; at += 50) {
  await store.usage.add(rows.slice(at, at + 50))
  process.stdout.write(`${at + 50}\n`)
}

import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/**
 * Has things with a burden of 4 kB come to the watchdog and leave it, eight at a time, and tells how many bytes stay
 * when only what is young was collected.
 */
const SCRIPT = `
import { Watchdog } from './src/channel/watchdog.ts'
const watchdog = new Watchdog(60_000)
const open = []
gc()
const before = process.memoryUsage().heapUsed
for (let count = 0; count < 8000; count++) {
  const burden = Array.from({ length: 500 }, () => count + 0.5)
  const one = { patience: undefined, heard: 0, place: 0, expire: () => void burden.length }
  watchdog.watch(one)
  open.push(one)
  if (open.length > 8) watchdog.leave(open.shift())
  if (count % 200 === 0) gc({ type: 'minor' })
}
gc({ type: 'minor' })
process.stdout.write(String(process.memoryUsage().heapUsed - before))
process.exit()
`

test('what has left the watchdog is garbage at once, and does not wait for a full collection', () => {
  const told = execFileSync(process.execPath, ['--expose-gc', '--input-type=module-typescript', '-e', SCRIPT])
  // A set kept four to thirteen megabytes of the 32 that came and went.
  expect(Number(told)).toBeLessThan(1_000_000)
})

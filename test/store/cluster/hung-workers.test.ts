import cluster, { type Worker } from 'node:cluster'
import { EventEmitter } from 'node:events'
import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import { SILENT } from '../../../src/log.ts'
import { Hub } from '../../../src/store/cluster/hub.ts'
import { MAX_UNANSWERED, PING_INTERVAL_MS } from '../../../src/store/cluster/hung-workers.ts'
import { Workers } from '../../../src/store/cluster/workers.ts'

/* Workers whose event loop hangs, is slow, or is stopped by a debugger. */

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

type Message = { readonly ask?: string; readonly slot: number; readonly id: number }

/** A process id that no process has. */
const NOBODY = 2 ** 30

/** Workers of one process that is no real one. It answers pings as long as it does not hang. */
function oneWorker(pid = NOBODY) {
  const state = { isHung: false, isDebugged: false, kills: 0, forks: 0, answer: () => {} }
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'performance'] })
  vi.spyOn(cluster, 'setupPrimary').mockReturnValue()
  vi.spyOn(cluster, 'fork').mockImplementation(() => {
    const process = { pid, stdout: null, stderr: null, kill: () => void state.kills++ }
    const waiting: Message[] = []
    state.answer = () => {
      for (const { slot, id } of waiting.splice(0)) worker.emit('message', [{ slot, id, answer: state.isDebugged }])
    }
    const send = (batch: readonly Message[]) => {
      waiting.push(...batch.filter(({ ask }) => ask === 'ping'))
      if (!state.isHung) state.answer()
    }
    const worker = Object.assign(new EventEmitter(), { id: ++state.forks, process, isConnected: () => true, send })
    return worker as unknown as Worker
  })
  const workers = new Workers({ hub: new Hub(SILENT), log: SILENT, out() {}, fault() {}, ended() {} })
  const started = workers.start(1)
  const { value } = vi.mocked(cluster.fork).mock.results.at(-1)!
  const listens = { id: 'one', address: 'http://127.0.0.1:1' }
  const listen = () => (value as Worker).emit('message', [{ ask: 'started', slot: 0, id: 1, message: listens }])
  /** Ends a hang. The worker answers what it was asked meanwhile. */
  const goOn = () => {
    state.isHung = false
    state.answer()
  }
  return { workers, state, listen, started, goOn }
}

const pings = (count: number) => vi.advanceTimersByTimeAsync(count * PING_INTERVAL_MS)

test('a worker is killed if and only if it answers no ping for a minute', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(2 * MAX_UNANSWERED), { maxLength: 4 }), async hangs => {
      const { workers, state, listen, started, goOn } = oneWorker()
      listen()
      await started
      for (const length of hangs) {
        state.isHung = true
        await pings(length)
        expect(state.kills > 0).toBe(length > MAX_UNANSWERED)
        if (state.kills > 0) break
        goOn()
        await pings(1)
      }
      workers.kill()
      const { kills } = state
      state.isHung = true
      await pings(2 * MAX_UNANSWERED)
      expect(state.kills).toBe(kills)
      vi.useRealTimers()
    }),
  )
})

test('neither one that still starts nor one with a debugger is killed', async () => {
  const { workers, state, listen, started } = oneWorker()
  state.isHung = true
  await pings(MAX_UNANSWERED - 1)
  expect(state.kills).toBe(0)
  listen()
  await started
  Object.assign(state, { isHung: false, isDebugged: true })
  await pings(1)
  state.isHung = true
  await pings(3 * MAX_UNANSWERED)
  expect(state.kills).toBe(0)
  workers.kill()
})

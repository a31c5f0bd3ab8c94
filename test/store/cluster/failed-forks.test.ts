import cluster, { type Worker } from 'node:cluster'
import { EventEmitter } from 'node:events'
import { availableParallelism } from 'node:os'
import { afterEach, expect, test, vi } from 'vitest'
import { SILENT } from '../../../src/log.ts'
import { Hub } from '../../../src/store/cluster/hub.ts'
import { Workers } from '../../../src/store/cluster/workers.ts'
import { until } from '../../builders/time.ts'

/* Workers on a machine that has no memory or no processes left for them. */

afterEach(() => vi.restoreAllMocks())

type FakeWorker = Worker & EventEmitter

let count = 0
/** A worker whose process exists only if it has an id. */
function fakeWorker(pid: number | undefined): FakeWorker {
  const process = { pid, stdout: null, stderr: null, kill: () => false }
  return Object.assign(new EventEmitter(), { id: ++count, process, isConnected: () => false }) as unknown as FakeWorker
}

/** Says that a worker listens, as the worker itself does. */
const listen = (worker: FakeWorker): boolean =>
  worker.emit('message', [
    { ask: 'started', slot: 0, id: 1, message: { id: `w${worker.id}`, address: 'http://127.0.0.1:1' } },
  ])

function workersWith(forks: readonly (() => FakeWorker)[]) {
  const left = [...forks]
  const made: FakeWorker[] = []
  vi.spyOn(cluster, 'setupPrimary').mockReturnValue()
  const fork = vi.spyOn(cluster, 'fork').mockImplementation(() => {
    const worker = left.shift()!()
    made.push(worker)
    return worker
  })
  const workers = new Workers({ hub: new Hub(SILENT), log: SILENT, out() {}, fault() {}, ended() {} })
  return { workers, made, fork }
}

const noMemory = (): never => {
  throw Object.assign(new Error('spawn ENOMEM'), { code: 'ENOMEM' })
}

test('a dead worker is replaced although the machine has no memory for its successor at first', async () => {
  const { workers, made, fork } = workersWith([() => fakeWorker(1), noMemory, noMemory, () => fakeWorker(2)])
  const started = workers.start(1)
  listen(made[0]!)
  await started
  made[0]!.emit('exit', null, 'SIGKILL')
  await until(() => made.length === 2)
  expect(fork).toHaveBeenCalledTimes(4)
  expect(workers.pids).toEqual([2])
})

test('a worker without a process is replaced, and holds up no end', async () => {
  const { workers, made } = workersWith([() => fakeWorker(1), () => fakeWorker(undefined), () => fakeWorker(2)])
  const started = workers.start(1)
  listen(made[0]!)
  await started
  made[0]!.emit('exit', null, 'SIGKILL')
  await until(() => made.length === 2)
  made[1]!.emit('error', new Error('spawn EAGAIN'))
  await until(() => made.length === 3)
  expect(workers.pids).toEqual([2])
  const stopped = workers.stop('SIGTERM', 1000)
  made[2]!.emit('exit', 0, null)
  await stopped
})

test('a start for which the memory does not suffice leaves no worker behind', async () => {
  const killed: number[] = []
  const first = fakeWorker(1)
  Object.assign(first.process, {
    kill: () => {
      killed.push(1)
      return first.emit('exit', null, 'SIGKILL')
    },
  })
  const { workers } = workersWith([() => first, noMemory])
  await expect(workers.start(2)).rejects.toThrow('ENOMEM')
  expect(killed).toEqual([1])
})

test('many workers start some at a time, so that each listens in time', async () => {
  const most = Math.max(4, availableParallelism())
  const { workers, made } = workersWith(Array.from({ length: 3 * most }, (_, pid) => () => fakeWorker(pid + 1)))
  const started = workers.start(3 * most)
  for (let count = 0; count < 3 * most; count++) {
    await until(() => made.length === Math.min(most + count, 3 * most))
    listen(made[count]!)
  }
  expect(await started).toBe('http://127.0.0.1:1')
  expect(workers.pids).toHaveLength(3 * most)
})

test('a worker that cannot start ends the start of all, also of those that have not begun', async () => {
  const most = Math.max(4, availableParallelism())
  const { workers, made } = workersWith(Array.from({ length: 3 * most }, (_, pid) => () => fakeWorker(pid + 1)))
  const started = workers.start(3 * most)
  started.catch(() => {})
  listen(made[0]!)
  await until(() => made.length === most + 1)
  made[1]!.emit('exit', 1, null)
  await new Promise(setImmediate)
  listen(made[2]!)
  for (const one of made) if (one !== made[1]) one.emit('exit', null, 'SIGKILL')
  await expect(started).rejects.toThrow('before it started listening: code 1')
  expect(made).toHaveLength(most + 1)
})

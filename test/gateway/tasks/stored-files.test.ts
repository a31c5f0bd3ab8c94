import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { rateLimited } from '../../../src/canonical/error.ts'
import { StoredFiles, type StoredFilesOptions } from '../../../src/gateway/tasks/stored-files.ts'
import type { StoredTask, Tasks } from '../../../src/store/tasks.ts'

const closing: (() => unknown)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

const SIZE = 1000
const taskOf = (digit: string): StoredTask =>
  ({ owner: 'o', id: `video_${digit.repeat(32)}`, channel: 'c', createdAt: 1 }) as StoredTask

const videoOf = (close = () => {}) => ({
  ...{ status: 200 as const, headers: {}, mediaType: 'video/mp4', close },
  bytes: {
    read: async function* () {
      yield Buffer.alloc(SIZE)
    },
  },
})

interface Options extends Partial<StoredFilesOptions> {
  readonly tasks?: readonly StoredTask[]
  /** Stores the size of a file. Returns false if the task is gone. */
  readonly setFileSize?: (id: string, size: number | undefined) => boolean
}

function openFiles({ tasks = [taskOf('1')], setFileSize = () => true, ...options }: Options = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'interlingua-files-'))
  closing.push(() => rmSync(folder, { recursive: true, force: true }))
  const faults: unknown[] = []
  const store = {
    withFiles: async () => [],
    withoutVideo: async () => tasks,
    setFileSize: async (_: string, id: string, size: number | undefined) => setFileSize(id, size),
    skipFile: async () => {},
  } as unknown as Tasks
  const files = new StoredFiles({
    ...{ store: () => store, now: () => 1, poll: () => 1, deletionTime: () => 1 },
    limits: () => ({ retention: 1000, limit: 10 * SIZE }),
    ...{ folder: () => folder, worker: async () => 'd'.repeat(32), isAlive: async () => true },
    open: async () => videoOf(),
    onFault: (_, thrown) => faults.push(thrown),
    ...options,
  })
  return { files, folder, faults }
}

/** The number of open file descriptors of a path in this process. */
const descriptorsOf = (path: string): number =>
  readdirSync('/proc/self/fd').filter(fd => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path
    } catch {
      return false
    }
  }).length

test('a stored file that cannot be read is closed', async () => {
  const { files, folder } = openFiles()
  const task = { ...taskOf('1'), fileSize: SIZE }
  const path = join(folder, task.id)
  // A folder can be opened, but not read.
  mkdirSync(path)
  await expect(files.open(task, {})).rejects.toMatchObject({ code: 'EISDIR' })
  expect(descriptorsOf(path)).toBe(0)
})

describe('a downloaded video', () => {
  test('whose size the store refuses leaves no file and takes no space', async () => {
    const [first, second, third] = [taskOf('1'), taskOf('2'), taskOf('3')]
    const cleared: string[] = []
    const { files, folder, faults } = openFiles({
      tasks: [first, second, third],
      limits: () => ({ retention: 1000, limit: 2 * SIZE }),
      setFileSize: (id, size) => {
        if (size === 0) cleared.push(id)
        if (id === first.id) throw rateLimited('The store is busy.', 1)
        return true
      },
    })
    await files.maintain()
    expect(faults).toHaveLength(1)
    expect(readdirSync(folder).sort()).toEqual([second.id, third.id])
    expect(cleared).toEqual([])
  })

  test('whose task was deleted meanwhile leaves no file and takes no space', async () => {
    const [first, second] = [taskOf('1'), taskOf('2')]
    const cleared: string[] = []
    const { files, folder, faults } = openFiles({
      tasks: [first, second],
      limits: () => ({ retention: 1000, limit: SIZE }),
      setFileSize: (id, size) => {
        if (size === 0) cleared.push(id)
        return id !== first.id
      },
    })
    await files.maintain()
    expect([faults, readdirSync(folder), cleared]).toEqual([[], [second.id], []])
  })

  test('whose channel is slow waits for no other of this channel before videos of other channels have their turn', async () => {
    const slow = ['1', '2', '3'].map(digit => ({ ...taskOf(digit), channel: 'slow' }))
    const later = taskOf('4')
    const opened: string[] = []
    const tasks: StoredTask[] = [...slow]
    let minutes = 0
    vi.spyOn(performance, 'now').mockImplementation(() => minutes * 60_000)
    closing.push(() => vi.restoreAllMocks())
    const { files } = openFiles({
      tasks,
      open: async task => {
        opened.push(task.id)
        // A video of another channel is completed during a slow download.
        if (task.channel === 'slow') minutes += 20
        if (!tasks.includes(later)) tasks.push(later)
        return videoOf()
      },
      setFileSize: id =>
        tasks.splice(
          tasks.findIndex(one => one.id === id),
          1,
        ).length === 1,
    })
    await files.maintain()
    await files.maintain()
    expect(opened).toEqual([slow[0]!.id, slow[1]!.id, later.id])
  })

  test('that is opened after the end is closed at once', async () => {
    const { promise, resolve } = Promise.withResolvers<ReturnType<typeof videoOf>>()
    const asked = Promise.withResolvers<void>()
    const { files, folder, faults } = openFiles({
      open: async () => {
        asked.resolve()
        return promise
      },
    })
    const maintained = files.maintain()
    await asked.promise
    files.close()
    let closed = 0
    resolve(videoOf(() => closed++))
    await maintained
    expect(closed).toBeGreaterThan(0)
    expect([faults, readdirSync(folder)]).toEqual([[], []])
  })
})

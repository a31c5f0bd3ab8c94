import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import { Refresher } from '../../src/gateway/tasks/refresher.ts'
import { StoredFiles, type StoredFilesOptions } from '../../src/gateway/tasks/stored-files.ts'
import type { StoredTask, Tasks } from '../../src/store/tasks.ts'
import { ON_FILES, openStoreAt } from '../builders/engines.ts'
import { TestServer } from '../builders/gateway.ts'
import { clientAt, PUBLIC, type StageOptions, TASKS, VideoStage } from './stage.ts'
import { openVideoUpstream } from './upstreams/index.ts'

/* Work in the background: the states of several upstreams, and stored videos. */

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const open = async (options: StageOptions = {}): Promise<VideoStage> => {
  const stage = await VideoStage.open('videos', { tasks: { poll: 20 }, ...options })
  closing.push(() => stage.close())
  return stage
}

test('an upstream that hangs holds up no other, and no end of the gateway', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'interlingua-hung-'))
  const hung = await openVideoUpstream('videos')
  const sound = await openVideoUpstream('videos')
  const named = (name: string) => ({ models: { named: new Map([[name, 'sora-2']]), patterns: [] }, name })
  const channels = [
    { ...hung.channel, ...named('hung'), timeout: { connect: 60_000, firstByte: 60_000, idle: 60_000 } },
    { ...sound.channel, ...named('sound') },
  ]
  const testServer = await TestServer.open(channels, {
    ...{ allow: ['127.0.0.0/8'], keep: folder, config: { tasks: { ...TASKS, poll: 20 } } },
  })
  closing.push(
    () => rmSync(folder, { recursive: true }),
    () => hung.close(),
    () => sound.close(),
  )
  const client = clientAt(testServer)
  hung.upstream.fail('poll', 'hang')
  for (let made = 0; made < 30; made++) await client.videos.create({ model: 'hung', prompt: 'a' })
  await expect.poll(() => hung.upstream.count('poll')).toBeGreaterThan(3)
  for (let made = 0; made < 3; made++) await client.videos.create({ model: 'sound', prompt: 'a' })
  await expect
    .poll(
      () =>
        testServer.lines.filter(({ message, fields }) => message === 'task' && fields['state'] === 'completed').length,
    )
    .toBe(3)
  expect(hung.upstream.count('poll')).toBeLessThan(8)
  const began = performance.now()
  await testServer.server.close(0)
  expect(performance.now() - began).toBeLessThan(30_000)
})

test('a task whose submit ends while it is looked at is the one that was accepted', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'interlingua-accepted-'))
  const store = await openStoreAt(folder)
  closing.push(
    () => rmSync(folder, { recursive: true }),
    () => store.close(),
  )
  const id = `video_${'1'.repeat(32)}`
  const task = {
    ...{ owner: 'o', id, model: 'm', channel: 'c', format: 'videos', upstreamModel: 'm', state: 'submitting' },
    ...{ from: 'text', output: {}, worker: 'w', misses: 0, result: { candidates: [] } },
    ...{ createdAt: 1, polledAt: 1, expiresAt: 1e15 },
  } as StoredTask
  await store.tasks.begin(task)
  const refresher = new Refresher({
    ...{ store: () => store.tasks, channels: () => [], now: () => 10_000, poll: () => 20 },
    deletionTime: () => 10_000,
    log: { info() {}, warn() {}, error() {} },
    async isSubmitted() {
      await store.tasks.advance('o', id, { state: 'queued', result: { candidates: [] }, upstreamId: 'up' })
      return false
    },
  })
  expect(await refresher.refresh(task)).toMatchObject({ state: 'queued', upstreamId: 'up' })
  expect(await store.tasks.find('o', id)).toMatchObject({ state: 'queued', upstreamId: 'up' })
})

describe('videos that are kept', () => {
  const filesIn = ({ folder }: VideoStage) =>
    existsSync(join(folder, 'videos')) ? readdirSync(join(folder, 'videos')) : []
  const made = async (stage: VideoStage) => {
    const { id } = await stage.client.videos.create({ model: PUBLIC, prompt: 'a' })
    await stage.ended(id)
    return id
  }

  test('the oldest makes room for the newest, and is not fetched again', async () => {
    const stage = await open({ tasks: { poll: 20, retention: 3_600_000, limit: 10_000 } })
    const ids: string[] = []
    for (let count = 0; count < 4; count++) {
      const id = await made(stage)
      await stage.storedVideo(id)
      ids.push(id)
      await sleep(5)
    }
    expect(filesIn(stage).sort()).toEqual(ids.slice(2).sort())
    await sleep(300)
    expect(filesIn(stage).sort()).toEqual(ids.slice(2).sort())
    expect(stage.upstream.count('content')).toBe(4)
    expect((await stage.client.videos.downloadContent(ids[0]!)).status).toBe(200)
  })

  test('one that is larger than all that is kept is left to its upstream, and fetched once', async () => {
    const stage = await open({ tasks: { poll: 20, retention: 3_600_000, limit: 1000 } })
    const id = await made(stage)
    await expect.poll(() => stage.upstream.count('content')).toBe(1)
    await sleep(300)
    expect([filesIn(stage), stage.upstream.count('content')]).toEqual([[], 1])
    expect((await stage.client.videos.downloadContent(id)).status).toBe(200)
  })

  test('one that is deleted leaves no file', async () => {
    const stage = await open({ tasks: { poll: 20, retention: 3_600_000 } })
    const id = await made(stage)
    await stage.storedVideo(id)
    await stage.client.videos.delete(id)
    expect(filesIn(stage)).toEqual([])
  })

  test('one that is kept while it is deleted leaves no file', async () => {
    const stage = await open({ tasks: { poll: 20, retention: 3_600_000 } })
    const { upstream } = stage
    const [sendContent, confirm] = [upstream.hold('content'), upstream.hold('remove')]
    const id = await made(stage)
    await expect.poll(() => upstream.count('content')).toBe(1)
    const deleted = stage.client.videos.delete(id)
    await expect.poll(() => upstream.count('remove')).toBe(1)
    sendContent()
    await stage.storedVideo(id)
    confirm()
    await deleted
    expect(filesIn(stage)).toEqual([])
  })

  test('one that its upstream breaks off or does not have yet is tried again', async () => {
    const stage = await open({ tasks: { poll: 20, retention: 3_600_000 } })
    stage.upstream.fail('content', 'break-half', 1)
    const id = await made(stage)
    await stage.storedVideo(id)
    expect(stage.upstream.count('content')).toBe(2)
    expect(filesIn(stage)).toEqual([id])
  })

  test('what a killed process left is deleted at the start, and what nobody has', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'interlingua-parts-'))
    closing.push(() => rmSync(folder, { recursive: true, force: true }))
    mkdirSync(join(folder, 'videos'))
    const old = new Date(Date.now() - 3_600_000)
    for (const name of [`video_${'a'.repeat(32)}.${'b'.repeat(32)}.part`, `video_${'c'.repeat(32)}`]) {
      writeFileSync(join(folder, 'videos', name), 'x')
      utimesSync(join(folder, 'videos', name), old, old)
    }
    const stage = await open({ keep: folder, tasks: { poll: 20, retention: 3_600_000 } })
    const id = await made(stage)
    await stage.storedVideo(id)
    // Beside a server, a process is dead once it has been silent for some seconds.
    await expect.poll(() => filesIn(stage), { timeout: ON_FILES ? 1000 : 15_000 }).toEqual([id])
  })

  /** The store and the upstream, reduced to the parts that the files need. */
  function files(options: Partial<StoredFilesOptions> = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'interlingua-full-'))
    closing.push(() => rmSync(folder, { recursive: true, force: true }))
    const task = { owner: 'o', id: `video_${'1'.repeat(32)}`, channel: 'c', createdAt: 1 } as StoredTask
    const sizes: (number | undefined)[] = []
    const faults: unknown[] = []
    const store = {
      withFiles: async () => [],
      withoutVideo: async () => (sizes.length === 0 ? [task] : []),
      setFileSize: async (_: string, __: string, size: number | undefined) => sizes.push(size) > 0,
      skipFile: async () => {},
    } as unknown as Tasks
    const worker = 'd'.repeat(32)
    const room = new StoredFiles({
      ...{ store: () => store, now: () => 1, poll: () => 1, deletionTime: () => 1 },
      limits: () => ({ retention: 1000, limit: 2 ** 20 }),
      ...{ folder: () => folder, worker: async () => worker, isAlive: async () => true },
      open: async () => ({
        ...{ status: 200, headers: {}, mediaType: 'video/mp4', close: () => {} },
        bytes: {
          read: async function* () {
            yield Buffer.alloc(100_000)
          },
        },
      }),
      onFault: (_, thrown) => faults.push(thrown),
      ...options,
    })
    return { room, folder, sizes, faults, part: join(folder, `${task.id}.${worker}.part`) }
  }

  test('a full disk is reported, leaves nothing behind and is tried again', async () => {
    const { room, folder, sizes, faults, part } = files()
    symlinkSync('/dev/full', part)
    await room.maintain()
    expect(faults).toMatchObject([{ code: 'ENOSPC' }])
    expect([readdirSync(folder), sizes]).toEqual([[], []])
    await room.maintain()
    expect(sizes).toEqual([100_000])
  })

  test.each([
    ['of no bytes', { status: 200 as const, bytes: { read: async function* () {} } }],
    [
      'in parts',
      {
        status: 206 as const,
        bytes: {
          read: async function* () {
            yield Buffer.alloc(5)
          },
        },
      },
    ],
  ])('a video %s is not kept', async (_, file) => {
    const { room, folder, sizes, faults } = files({
      open: async () => ({ headers: {}, mediaType: 'video/mp4', close: () => {}, ...file }),
    })
    await room.maintain()
    expect(faults).toEqual([expect.any(GatewayError)])
    expect([readdirSync(folder), sizes]).toEqual([[], []])
  })
})

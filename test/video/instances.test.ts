import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import type { TasksConfig } from '../../src/config/index.ts'
import { VIDEO_GONE } from '../../src/gateway/tasks/content.ts'
import { StoredFiles } from '../../src/gateway/tasks/stored-files.ts'
import type { StoredTask } from '../../src/store/tasks.ts'
import { openStoreAt, storeAt } from '../builders/engines.ts'
import { TestServer } from '../builders/gateway.ts'
import { clientAt, PUBLIC, TASKS, untilStored } from './stage.ts'
import { openVideoUpstream, type VideoScene } from './upstreams/index.ts'

/* Stored videos of instances that share a store but have separate folders. */

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'interlingua-instances-'))
  closing.push(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function openScene(): Promise<VideoScene> {
  const scene = await openVideoUpstream('videos', {
    fields: { models: { named: new Map([[PUBLIC, 'sora-2']]), patterns: [] } },
  })
  closing.push(() => scene.close())
  return scene
}

/** One instance with its own folder. */
async function openInstance(scene: VideoScene, store: string, tasks: Partial<TasksConfig>) {
  const dataDir = scratch()
  const testServer = await TestServer.open([scene.channel], {
    allow: ['127.0.0.0/8'],
    keep: dataDir,
    config: {
      tasks: { ...TASKS, ...tasks },
      store: storeAt(store),
    },
  })
  closing.push(() => testServer.server.close(0))
  const folder = join(dataDir, 'videos')
  const files = () => (existsSync(folder) ? readdirSync(folder) : [])
  return { client: clientAt(testServer), folder, store, files }
}

const KEEP = 3_600_000

async function madeAndKept(one: Awaited<ReturnType<typeof openInstance>>): Promise<string> {
  const { id } = await one.client.videos.create({ model: PUBLIC, prompt: 'a' })
  await untilStored(one.store, id)
  return id
}

test('a video that one keeps is had from its upstream by the other, which leaves it to the first', async () => {
  const [scene, store] = [await openScene(), scratch()]
  const one = await openInstance(scene, store, { poll: 20, retention: KEEP })
  const id = await madeAndKept(one)
  const two = await openInstance(scene, store, { poll: 20, retention: KEEP, limit: 1 })
  await sleep(200)
  expect([one.files(), two.files(), scene.upstream.count('content')]).toEqual([[id], [], 1])
  const whole = await (await two.client.videos.downloadContent(id)).bytes()
  expect(scene.upstream.count('content')).toBe(2)
  expect(await (await one.client.videos.downloadContent(id)).bytes()).toEqual(whole)
  expect(scene.upstream.count('content')).toBe(2)
})

test('what is too old or too much for one is still kept by the other', async () => {
  const [scene, store] = [await openScene(), scratch()]
  const one = await openInstance(scene, store, { poll: 20, retention: KEEP })
  const id = await madeAndKept(one)
  const two = await openInstance(scene, store, { poll: 20, retention: 1, limit: 1 })
  await sleep(200)
  expect([one.files(), two.files()]).toEqual([[id], []])
  await one.client.videos.downloadContent(id)
  expect(scene.upstream.count('content')).toBe(1)
})

test('a video that is deleted at the other goes from the folder of the one that kept it', async () => {
  const [scene, store] = [await openScene(), scratch()]
  const one = await openInstance(scene, store, { poll: 20, retention: KEEP })
  const id = await madeAndKept(one)
  const two = await openInstance(scene, store, { poll: 0 })
  await two.client.videos.delete(id)
  await sleep(200)
  // A file is left alone until its task must be stored.
  expect(one.files()).toEqual([id])
  const old = new Date(statSync(join(one.folder, id)).mtimeMs - KEEP)
  utimesSync(join(one.folder, id), old, old)
  await expect.poll(() => one.files()).toEqual([])
})

test('a video that one gives up is still kept by the other, however late it gives up', async () => {
  const store = await openStoreAt(scratch())
  closing.push(() => store.close())
  const place = { channel: 'c', format: 'videos', upstreamModel: 'm' }
  const id = `video_${'1'.repeat(32)}`
  await store.tasks.begin({
    ...{ owner: 'o', id, model: 'm', ...place, state: 'completed', from: 'text', output: {}, worker: 'w', misses: 0 },
    ...{ result: { candidates: [] }, createdAt: 1, polledAt: 1, expiresAt: 1e12 },
  } as StoredTask)
  const folder = scratch()
  let asked = 0
  const files = new StoredFiles({
    ...{ store: () => store.tasks, now: () => 2, poll: () => 1, deletionTime: () => 2 },
    limits: () => ({ retention: 1000, limit: 1000 }),
    ...{ folder: () => folder, worker: async () => 'd'.repeat(32), isAlive: async () => true, onFault: () => {} },
    async open() {
      asked++
      // Meanwhile the other instance has stored the file.
      await store.tasks.setFileSize('o', id, 5)
      throw VIDEO_GONE
    },
  })
  await files.maintain()
  expect((await store.tasks.find('o', id))?.fileSize).toBe(5)
  await store.tasks.setFileSize('o', id, undefined)
  await store.tasks.skipFile('o', id)
  expect((await store.tasks.find('o', id))?.fileSize).toBe(0)
  await files.maintain()
  expect(asked).toBe(1)
})

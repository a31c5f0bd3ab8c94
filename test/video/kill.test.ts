import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type OpenAI from 'openai'
import { afterEach, describe, expect, test } from 'vitest'
import type { TasksConfig } from '../../src/config/index.ts'
import { configOf } from '../builders/config.ts'
import { noticeDead } from '../builders/engines.ts'
import { clientAt, MODELS, PUBLIC, TASKS, untilStored } from './stage.ts'
import { type Kind, openVideoUpstream, type VideoScene } from './upstreams/index.ts'

/* SIGKILL at every step of a task's life, followed by a restart: no task is lost, none is submitted twice. */

const started: ChildProcess[] = []
let scene: VideoScene | undefined
let folder: string | undefined
afterEach(async () => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
  await scene?.close()
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
})

const written = (value: unknown): string =>
  JSON.stringify(value, (_, one) => (one instanceof Map ? { map: [...one] } : one))

interface Running {
  readonly client: OpenAI
  kill(): Promise<void>
}

/** Starts the gateway over the same store. */
async function start(tasks: Partial<TasksConfig> = {}): Promise<Running> {
  const models = { named: new Map([[PUBLIC, MODELS[scene!.channel.formats[0]!.format as Kind]]]), patterns: [] }
  const config = configOf([{ ...scene!.channel, models }], {
    ...{ allow: ['127.0.0.0/8'], keep: folder!, config: { tasks: { ...TASKS, poll: 40, ...tasks } } },
  })
  const child = spawn(process.execPath, [join(import.meta.dirname, 'gateway-process.ts')], {
    env: { ...process.env, VIDEO_CONFIG: written(config) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  started.push(child)
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout!.once('data', data => resolve(String(data).trim()))
    child.once('exit', code => reject(new Error(`the gateway ended with ${code}`)))
  })
  return {
    client: clientAt({ server: { address } } as Parameters<typeof clientAt>[0]),
    kill: async () => {
      const gone = new Promise(resolve => child.once('exit', resolve))
      child.kill('SIGKILL')
      await gone
      await noticeDead(folder!)
    },
  }
}

async function ended(client: OpenAI, id: string): Promise<OpenAI.Videos.Video> {
  for (;;) {
    const video = await client.videos.retrieve(id)
    if (video.status === 'completed' || video.status === 'failed') return video
    await sleep(30)
  }
}

/** When the gateway is killed, by the requests its upstream has seen. */
const STEPS = {
  'before the submit arrives': { submit: 'hang' },
  'after the submit was accepted, before it is answered': { submit: 'hang-after' },
  'after the submit was answered': {},
  'while the state is asked for': { poll: 'hang' },
  'while it is in progress': { polls: 3 },
  'when it is completed': { polls: 5 },
} as const

describe.each(['videos', 'veo', 'kling'] as const)('%s', kind => {
  test.each(Object.entries(STEPS))('%s', async (_, step) => {
    scene = await openVideoUpstream(kind)
    folder = mkdtempSync(join(tmpdir(), 'interlingua-kill-'))
    const { upstream } = scene
    const first = await start()
    const fault = 'submit' in step ? step.submit : undefined
    if (fault !== undefined) upstream.fail('submit', fault, 1)
    if ('poll' in step) upstream.fail('poll', step.poll, 1)
    const made = first.client.videos.create({ model: PUBLIC, prompt: 'a' }, { headers: { 'idempotency-key': 'k' } })
    made.catch(() => {})
    if (fault === undefined) await made
    const polls = 'polls' in step ? step.polls : 'poll' in step ? 1 : 0
    while (upstream.count('submit') < 1 || upstream.count('poll') < polls) await sleep(10)
    await sleep(30)
    await first.kill()
    const second = await start()
    const tasks = (await second.client.videos.list()).data
    expect(tasks).toHaveLength(1)
    const end = await ended(second.client, tasks[0]!.id)
    if (fault === undefined || (kind === 'kling' && fault === 'hang-after')) expect(end.status).toBe('completed')
    else expect(end).toMatchObject({ status: 'failed', error: { code: expect.stringMatching(/^submit_/) } })
    const again = await second.client.videos.create(
      { model: PUBLIC, prompt: 'a' },
      { headers: { 'idempotency-key': 'k' } },
    )
    expect(again.id).toBe(end.id)
    expect(upstream.count('submit')).toBe(1)
    await second.kill()
  })
})

async function begun(tasks: Partial<TasksConfig> = {}) {
  scene = await openVideoUpstream('videos')
  folder = mkdtempSync(join(tmpdir(), 'interlingua-kill-'))
  scene.upstream.life = { queued: 0, running: 0, outcome: 'completed' }
  const first = await start(tasks)
  const { id } = await first.client.videos.create({ model: PUBLIC, prompt: 'a' })
  await ended(first.client, id)
  return { first, id, upstream: scene.upstream }
}

describe('after the task itself', () => {
  test.each(['hang', 'hang-after', undefined] as const)('a remix (%s) is neither lost nor made twice', async fault => {
    const { first, id, upstream } = await begun()
    if (fault !== undefined) upstream.fail('remix', fault, 1)
    const headers = { 'idempotency-key': 'r' }
    const made = first.client.videos.remix(id, { prompt: 'b' }, { headers })
    made.catch(() => {})
    if (fault === undefined) await made
    while (upstream.count('remix') < 1) await sleep(10)
    await sleep(30)
    await first.kill()
    const second = await start()
    const remix = (await second.client.videos.list()).data.find(task => task.remixed_from_video_id === id)!
    const end = await ended(second.client, remix.id)
    expect(end.status).toBe(fault === undefined ? 'completed' : 'failed')
    if (fault !== undefined) expect(end.error?.code).toMatch(/^submit_/)
    expect((await second.client.videos.remix(id, { prompt: 'b' }, { headers })).id).toBe(remix.id)
    expect([upstream.count('remix'), upstream.count('submit')]).toEqual([1, 1])
    await second.kill()
  })

  test.each(['hang', 'hang-after'] as const)('a deletion (%s) can be repeated', async fault => {
    const { first, id, upstream } = await begun()
    upstream.fail('remove', fault, 1)
    first.client.videos.delete(id).catch(() => {})
    while (upstream.count('remove') < 1) await sleep(10)
    await sleep(30)
    await first.kill()
    const second = await start()
    expect((await second.client.videos.retrieve(id)).status).toBe('completed')
    expect(await second.client.videos.delete(id)).toMatchObject({ id, deleted: true })
    await expect(second.client.videos.retrieve(id)).rejects.toMatchObject({ status: 404 })
    expect((await second.client.videos.list()).data).toEqual([])
    await second.kill()
  })

  test('a video that is being kept is kept by the next process, and no part of it stays', async () => {
    const keep = { retention: 3_600_000 }
    scene = await openVideoUpstream('videos')
    folder = mkdtempSync(join(tmpdir(), 'interlingua-kill-'))
    const { upstream } = scene
    upstream.life = { queued: 0, running: 0, outcome: 'completed' }
    upstream.size = 2 ** 29
    const first = await start(keep)
    const { id } = await first.client.videos.create({ model: PUBLIC, prompt: 'a' })
    const names = () => readdirSync(folder!, { recursive: true }).map(String)
    while (!names().some(name => name.endsWith('.part'))) await sleep(5)
    await first.kill()
    expect(names().filter(name => name.endsWith('.part'))).toHaveLength(1)
    upstream.size = 4096
    const second = await start(keep)
    const file = join('videos', id)
    await expect.poll(() => names().filter(name => name.startsWith('videos/'))).toEqual([file])
    await untilStored(folder, id)
    upstream.last.expired = true
    expect((await (await second.client.videos.downloadContent(id)).arrayBuffer()).byteLength).toBe(4096)
    await second.kill()
  })
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import OpenAI from 'openai'
import { expect } from 'vitest'
import type { ChannelConfig, TasksConfig } from '../../src/config/index.ts'
import { KEY, type TestServerOptions } from '../builders/config.ts'
import { inDatabase } from '../builders/engines.ts'
import { TestServer } from '../builders/gateway.ts'
import { type Kind, openVideoUpstream, type VideoScene } from './upstreams/index.ts'

/** Models by channel, under the callers' names and the upstreams' names. */
export const MODELS = { videos: 'sora-2', veo: 'veo-3.0-generate-001', kling: 'kling-v2-1' } as const
export const PUBLIC = 'film'

/** Maps the public model to the upstream's name. */
const models = (kind: Kind): Pick<ChannelConfig, 'models'> => ({
  models: { named: new Map([[PUBLIC, MODELS[kind]]]), patterns: [] },
})

export const TASKS: TasksConfig = { poll: 0, retention: 0, limit: 2 ** 30, vendorPath: 'videovendor' }

export interface StageOptions extends TestServerOptions {
  readonly tasks?: Partial<TasksConfig>
  readonly scene?: Parameters<typeof openVideoUpstream>[1]
}

/** A gateway with a store and one video upstream. */
export class VideoStage {
  readonly scene: VideoScene
  readonly testServer: TestServer
  readonly folder: string
  /** Opens another gateway with the same config and store. */
  readonly another: () => Promise<TestServer>
  private ownsFolder = true

  private constructor(scene: VideoScene, testServer: TestServer, folder: string, another: () => Promise<TestServer>) {
    this.scene = scene
    this.testServer = testServer
    this.folder = folder
    this.another = another
  }

  static async open(kind: Kind, { tasks = {}, scene: how = {}, ...options }: StageOptions = {}): Promise<VideoStage> {
    const scene = await openVideoUpstream(kind, { ...how, fields: { ...models(kind), ...how.fields } })
    const folder = options.keep ?? mkdtempSync(join(tmpdir(), 'interlingua-video-'))
    const config = { tasks: { ...TASKS, ...tasks }, ...options.config }
    const another = () => TestServer.open([scene.channel], { allow: ['127.0.0.0/8'], ...options, keep: folder, config })
    const stage = new VideoStage(scene, await another(), folder, another)
    stage.ownsFolder = options.keep === undefined
    return stage
  }

  get upstream() {
    return this.scene.upstream
  }

  get client(): OpenAI {
    return clientAt(this.testServer)
  }

  /** Polls until the task has a final state. */
  async ended(id: string): Promise<OpenAI.Videos.Video> {
    for (;;) {
      const video = await this.client.videos.retrieve(id)
      if (video.status === 'completed' || video.status === 'failed') return video
      await sleep(20)
    }
  }

  /** Waits until the gateway uses the upstream's answers from now on: a second poll follows the first, or none does. */
  async polled(id: string): Promise<void> {
    const before = this.upstream.count('poll')
    const isOver = async () => {
      const { status } = await this.client.videos.retrieve(id)
      return status === 'completed' || status === 'failed' || this.upstream.count('poll') > before + 1
    }
    await expect.poll(isOver).toBe(true)
  }

  /** Waits until the video of a task is stored and the store says so. */
  storedVideo(id: string): Promise<void> {
    return untilStored(this.folder, id)
  }

  async close(): Promise<void> {
    await this.testServer.server.close(0)
    await this.scene.close()
    if (this.ownsFolder) rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Waits until the video of a task is stored. The file exists before the store, which stands for a folder, says so. */
export async function untilStored(store: string, id: string): Promise<void> {
  const storedVideo = () => inDatabase(store, 'select id from tasks where file_size > 0')
  await expect.poll(storedVideo).toContainEqual({ id })
}

export const clientAt = (testServer: Pick<TestServer, 'server'>, apiKey: string = KEY): OpenAI =>
  new OpenAI({ apiKey, baseURL: `${testServer.server.address}/v1`, maxRetries: 0 })

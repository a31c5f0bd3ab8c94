import assert from 'node:assert/strict'
import { pause } from '../../builders/time.ts'
import type { Cases, World } from '../endpoints.ts'
import { PIXEL } from './media.ts'

const PROMPT = 'A paper boat on a quiet pond.'

/** Maximum time until a video must be finished, in milliseconds. */
const PATIENCE = 120_000

/** Polls until the video of a task is made. */
export async function finished({ ask }: Pick<World, 'ask'>, id: string): Promise<void> {
  for (const end = Date.now() + PATIENCE; ; await pause(500)) {
    const { json } = await ask(`/v1/videos/${id}`)
    if (json.status === 'completed') return
    assert.ok(json.status !== 'failed' && Date.now() < end, `the video is ${JSON.stringify(json)}`)
  }
}

/** Cases that submit videos. They come first, because videos take their time. */
export const VIDEO_CASES: Cases = {
  'POST /v1/videos': async ({ ask, model, made }) => {
    const { json } = await ask('/v1/videos', { body: { model, prompt: PROMPT, seconds: '4', size: '1280x720' } })
    assert.equal(json.object, 'video')
    made.set('video', json.id)
  },
  'POST /v1/video/generations': async ({ ask, model, made }) => {
    const { json } = await ask('/v1/video/generations', { body: { model, prompt: PROMPT } })
    made.set('generation', json.task_id ?? json.id)
    assert.ok(made.get('generation'))
  },
  'POST /videovendor/v1/videos/text2video': async ({ ask, model, made }) => {
    const body = { model_name: model, prompt: PROMPT, duration: '5', mode: 'std' }
    const { json } = await ask('/videovendor/v1/videos/text2video', { body })
    assert.equal(json.code, 0)
    made.set('text2video', json.data.task_id)
  },
  'POST /videovendor/v1/videos/image2video': async ({ ask, model, made }) => {
    const body = { model_name: model, prompt: PROMPT, image: PIXEL.toString('base64'), duration: '5' }
    const { json } = await ask('/videovendor/v1/videos/image2video', { body })
    assert.equal(json.code, 0)
    made.set('image2video', json.data.task_id)
  },
  'GET /v1/video/generations/:id': async ({ ask, made }) => {
    const { json } = await ask(`/v1/video/generations/${made.get('generation')}`)
    assert.match(JSON.stringify(json), /queued|in_progress|processing|completed|succeeded/i)
  },
  'GET /videovendor/v1/videos/text2video/:id': async ({ ask, made }) => {
    const { json } = await ask(`/videovendor/v1/videos/text2video/${made.get('text2video')}`)
    assert.equal(json.data.task_id, made.get('text2video'))
  },
  'GET /videovendor/v1/videos/image2video/:id': async ({ ask, made }) => {
    const { json } = await ask(`/videovendor/v1/videos/image2video/${made.get('image2video')}`)
    assert.equal(json.data.task_id, made.get('image2video'))
  },
  'GET /v1/videos': async ({ ask, made }) => {
    const { json } = await ask('/v1/videos')
    assert.ok(json.data.some(({ id }: { id: string }) => id === made.get('video')))
  },
}

/** Cases that need a finished video. */
export const FINISHED_CASES: Cases = {
  'GET /v1/videos/:id': async world => finished(world, world.made.get('video')!),
  'GET /v1/videos/:id/content': async ({ ask, made }) => {
    const answer = await ask(`/v1/videos/${made.get('video')}/content`)
    assert.equal(answer.headers['content-type'], 'video/mp4')
    assert.equal(answer.bytes.toString('latin1', 4, 8), 'ftyp')
  },
  'POST /v1/videos/:id/remix': async ({ ask, made }) => {
    const { json } = await ask(`/v1/videos/${made.get('video')}/remix`, { body: { prompt: 'At night.' } })
    assert.equal(json.remixed_from_video_id, made.get('video'))
  },
  'DELETE /v1/videos/:id': async ({ ask, made }) => {
    const { json } = await ask(`/v1/videos/${made.get('video')}`, { method: 'DELETE' })
    assert.equal(json.deleted, true)
  },
}

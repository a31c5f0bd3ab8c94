import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { json } from '../builders/chat.ts'
import { KEY_A, KEY_B, keyIn, poolAt } from '../builders/key-pools.ts'
import { opener } from '../builders/opener.ts'
import { TIMED } from '../builders/time.ts'
import { TASKS } from './stage.ts'

const { openUpstream, openGateway, closing } = opener()

test('a video is polled with the key of a pool that ordered it, and not with another one', TIMED, async () => {
  const keep = mkdtempSync(join(tmpdir(), 'interlingua-video-'))
  closing.push(() => rmSync(keep, { recursive: true, force: true }))
  /** The key that ordered each video. */
  const owners = new Map<string, string>()
  const upstream = await openUpstream((response, seen) => {
    if (seen.method === 'POST') owners.set(`video-${owners.size}`, keyIn(seen))
    const id = seen.method === 'POST' ? `video-${owners.size - 1}` : seen.url.split('/').at(-1)!
    if (owners.get(id) !== keyIn(seen)) return json(response, { error: { message: 'No such video.' } }, 404)
    const status = seen.method === 'POST' ? 'queued' : 'completed'
    json(response, {
      id,
      object: 'video',
      model: 'm',
      status,
      progress: 0,
      created_at: 1,
      seconds: '4',
      size: '720x1280',
    })
  })
  const gateway = await openGateway([poolAt(`${upstream.address}/v1`, [KEY_A, KEY_B], { format: 'videos' })], {
    ...{ keep, config: { tasks: { ...TASKS, poll: 20 } } },
  })
  for (let index = 0; index < 8; index++) {
    const { status, json: task } = await gateway.ask('/v1/videos', { model: 'm', prompt: `video ${index}` })
    expect(status).toBe(200)
    const state = async () => (await gateway.ask(`/v1/videos/${task.id}`, undefined, { method: 'GET' })).json.status
    await expect.poll(state, { timeout: 5000 }).toBe('completed')
  }
  expect(new Set(owners.values())).toEqual(new Set([KEY_A, KEY_B]))
  for (const { method, url, headers } of upstream.seen)
    if (method === 'GET') expect(keyIn({ headers })).toBe(owners.get(url.split('/').at(-1)!))
})

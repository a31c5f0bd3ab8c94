import { readFileSync } from 'node:fs'
import OpenAI, { toFile } from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Demo, openDemo } from '../builders/demo.ts'
import { PIXEL } from './upstreams/index.ts'

/* The demo runs a video task to its end, one recorded state after the other. */

const SIZES = ['1280x720', '720x1280', '1792x1024', '1024x1792'] as const

let replay: Demo
let client: OpenAI
beforeAll(async () => {
  replay = await openDemo()
  client = new OpenAI({ apiKey: 'none', baseURL: `${replay.url}/v1`, maxRetries: 0 })
})
afterAll(() => replay.close())

/** Polls until the task ends. */
async function ended(id: string, from = client) {
  const seen = []
  for (;;) {
    const video = await from.videos.retrieve(id)
    seen.push(video)
    if (video.status === 'completed' || video.status === 'failed') return seen
  }
}

describe('a whole life', () => {
  it('queued, in progress with growing progress, and completed', async () => {
    const made = await client.videos.create({ model: 'replay', prompt: 'A boat.', seconds: '4', size: '1280x720' })
    expect(made).toMatchObject({ object: 'video', status: 'queued', progress: 0, seconds: '4', size: '1280x720' })
    const seen = await ended(made.id)
    expect(seen.map(({ status, progress }) => [status, progress])).toEqual([
      ['in_progress', 50],
      ['completed', 100],
    ])
    expect(seen.at(-1)).toMatchObject({ progress: 100, error: null, completed_at: expect.any(Number) })
  })

  it('two videos have states of their own', async () => {
    const [one, two] = [
      await client.videos.create({ model: 'replay', prompt: 'A' }),
      await client.videos.create({ model: 'replay', prompt: 'B' }),
    ]
    expect(one.id).not.toBe(two.id)
    expect((await ended(one.id)).map(({ status, id }) => [status, id])).toEqual([
      ['in_progress', one.id],
      ['completed', one.id],
    ])
    expect((await ended(two.id)).map(({ status }) => status)).toEqual(['in_progress', 'completed'])
  })

  it('goes on at another server, which never saw the task, and after a restart', async () => {
    const made = await client.videos.create({ model: 'replay', prompt: 'A boat.', size: '1024x1792' })
    const other = await openDemo()
    try {
      const there = new OpenAI({ apiKey: 'none', baseURL: `${other.url}/v1`, maxRetries: 0 })
      expect((await ended(made.id, there)).at(-1)).toMatchObject({
        id: made.id,
        status: 'completed',
        size: '1024x1792',
      })
      const [one, two] = await Promise.all([client, there].map(from => from.videos.downloadContent(made.id)))
      expect(Buffer.from(await two!.arrayBuffer()).equals(Buffer.from(await one!.arrayBuffer()))).toBe(true)
      const failing = await client.videos.create({ model: 'replay-videos-blocked', prompt: 'Anything.' })
      expect((await ended(failing.id, there)).at(-1)).toMatchObject({ error: { code: 'moderation_blocked' } })
      for (const id of ['video_none', 'video_replay_%00', 'video_any_replay%ff'])
        await expect(there.videos.retrieve(id)).rejects.toMatchObject({ status: 404 })
    } finally {
      await other.close()
    }
  })

  it('one model fails by a review of content', async () => {
    const made = await client.videos.create({ model: 'replay-videos-blocked', prompt: 'Anything.' })
    const seen = await ended(made.id)
    expect(seen.at(-1)).toMatchObject({ status: 'failed', error: { code: 'moderation_blocked' } })
    await expect(client.videos.downloadContent(made.id)).rejects.toMatchObject({ status: 404 })
  })

  it('takes a form with a picture', async () => {
    const input_reference = await toFile(PIXEL, 'a.png', { type: 'image/png' })
    expect((await client.videos.create({ model: 'replay', prompt: 'a', input_reference })).status).toBe('queued')
  })
})

describe('files', () => {
  const finished = async () => {
    const { id } = await client.videos.create({ model: 'replay', prompt: 'A boat.', seconds: '4', size: '1280x720' })
    await ended(id)
    return id
  }

  it('the video is an MP4, whole and by ranges', async () => {
    const id = await finished()
    const whole = await client.videos.downloadContent(id)
    expect(whole.headers.get('content-type')).toBe('video/mp4')
    const bytes = Buffer.from(await whole.arrayBuffer())
    expect(bytes.equals(readFileSync('fixtures/videos/1280x720-4s.mp4'))).toBe(true)
    const url = `${replay.url}/v1/videos/${id}/content`
    const get = (range: string, method = 'GET') => fetch(url, { method, headers: { range } })
    for (const [range, begin, end] of [
      ['bytes=0-99', 0, 100],
      ['bytes=100-', 100, bytes.length],
      ['bytes=-10', bytes.length - 10, bytes.length],
    ] as const) {
      const part = await get(range)
      expect(part.status).toBe(206)
      expect(part.headers.get('content-range')).toBe(`bytes ${begin}-${end - 1}/${bytes.length}`)
      expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(begin, end))).toBe(true)
    }
    expect((await get(`bytes=${bytes.length}-`)).status).toBe(416)
    const head = await get('', 'HEAD')
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes.length)])
  })

  it('there is a thumbnail, and no other variant', async () => {
    const id = await finished()
    const thumbnail = await client.videos.downloadContent(id, { variant: 'thumbnail' })
    expect(thumbnail.headers.get('content-type')).toBe('image/webp')
    expect(Buffer.from(await thumbnail.arrayBuffer()).equals(readFileSync('fixtures/videos/1280x720.webp'))).toBe(true)
    for (const variant of ['spritesheet', 'constructor', '__proto__'])
      await expect(client.videos.downloadContent(id, { variant: variant as 'video' })).rejects.toMatchObject({
        status: 404,
      })
  })
})

describe('remix and delete', () => {
  it('a remix is a task of its own', async () => {
    const { id } = await client.videos.create({ model: 'replay', prompt: 'a' })
    await ended(id)
    const remix = await client.videos.remix(id, { prompt: 'b' })
    expect(remix).toMatchObject({ status: 'queued' })
    expect(remix.id).not.toBe(id)
    expect((await ended(remix.id)).at(-1)).toMatchObject({ status: 'completed' })
    expect(await client.videos.delete(id)).toMatchObject({ id, deleted: true })
  })

  it('requests about nothing are refused', async () => {
    await expect(client.videos.create({ model: 'replay' } as never)).rejects.toMatchObject({ status: 404 })
    const status = async (path: string, method: string) => (await fetch(`${replay.url}${path}`, { method })).status
    expect(await status('/v1/videos/a/b/c', 'GET')).toBe(404)
    expect(await status('/v1/videos/%ff', 'GET')).toBe(404)
    expect(await status('/v1/videos', 'DELETE')).toBe(404)
  })
})

describe('the file itself', () => {
  interface Box {
    readonly type: string
    readonly begin: number
    readonly end: number
  }
  const boxesIn = (bytes: Buffer, begin = 0, end = bytes.length): Box[] => {
    const boxes = []
    for (let at = begin; at < end; ) {
      const size = bytes.readUInt32BE(at)
      boxes.push({ type: bytes.toString('latin1', at + 4, at + 8), begin: at + 8, end: at + size })
      at += size
    }
    return boxes
  }
  const inside = (bytes: Buffer, path: readonly string[]): Box => {
    let box: Box = { type: '', begin: 0, end: bytes.length }
    for (const type of path) box = boxesIn(bytes, box.begin, box.end).find(one => one.type === type)!
    return box
  }

  it.each(SIZES)('%s: its boxes hold what their tables say', async size => {
    const { id } = await client.videos.create({ model: 'replay', prompt: 'a', size })
    await ended(id)
    const bytes = Buffer.from(await (await client.videos.downloadContent(id)).arrayBuffer())
    const track = ['moov', 'trak']
    const table = [...track, 'mdia', 'minf', 'stbl']
    const { end: trackEnd } = inside(bytes, [...track, 'tkhd'])
    const sides = [bytes.readUInt32BE(trackEnd - 8), bytes.readUInt32BE(trackEnd - 4)].map(side => side / 65_536)
    expect(sides.join('x')).toBe(size)
    const { begin: header } = inside(bytes, ['moov', 'mvhd'])
    expect(bytes.readUInt32BE(header + 16) / bytes.readUInt32BE(header + 12)).toBe(4)
    const { begin: sizesAt } = inside(bytes, [...table, 'stsz'])
    const count = bytes.readUInt32BE(sizesAt + 8)
    const samples = Array.from({ length: count }, (_, index) => bytes.readUInt32BE(sizesAt + 12 + 4 * index))
    const { begin, end } = inside(bytes, ['mdat'])
    expect(bytes.readUInt32BE(inside(bytes, [...table, 'stco']).begin + 8)).toBe(begin)
    expect(samples.reduce((sum, one) => sum + one, 0)).toBe(end - begin)
    expect(bytes.length).toBeLessThan(65_536)
  })

  it.each(SIZES)('the thumbnail of %s is a WebP of its size', async size => {
    const { id } = await client.videos.create({ model: 'replay', prompt: 'a', size })
    await ended(id)
    const bytes = Buffer.from(await (await client.videos.downloadContent(id, { variant: 'thumbnail' })).arrayBuffer())
    expect([bytes.toString('latin1', 0, 4), bytes.toString('latin1', 8, 16)]).toEqual(['RIFF', 'WEBPVP8L'])
    expect(bytes.readUInt32LE(4)).toBe(bytes.length - 8)
    const sides = bytes.readUInt32LE(21)
    expect(`${(sides & 0x3fff) + 1}x${((sides >> 14) & 0x3fff) + 1}`).toBe(size)
  })

  it('a size or a length that was not recorded gets another one, and the task says so', async () => {
    const made = await client.videos.create({
      model: 'replay',
      prompt: 'a',
      size: '640x360' as '1280x720',
      seconds: '8',
    })
    expect(made).toMatchObject({ size: '720x1280', seconds: '4' })
  })
})

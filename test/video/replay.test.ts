import { readFileSync } from 'node:fs'
import OpenAI, { toFile } from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Mock, openMock } from '../../src/upstreams/mock/index.ts'
import { PIXEL } from './upstreams/index.ts'

/* The built-in mock upstream runs a video task to its end. */

const SIZES = ['1280x720', '720x1280', '1792x1024', '1024x1792'] as const
const LENGTHS = [4, 8, 12]

let replay: Mock
let client: OpenAI
let clock = Date.now()
beforeAll(async () => {
  replay = await openMock({ now: () => clock })
  client = new OpenAI({ apiKey: 'none', baseURL: `${replay.url}/v1`, maxRetries: 0 })
})
afterAll(() => replay.close())

/** Polls every second until the task ends. */
async function ended(id: string, from = client) {
  const seen = []
  for (;;) {
    const video = await from.videos.retrieve(id)
    seen.push(video)
    if (video.status === 'completed' || video.status === 'failed') return seen
    clock += 1000
  }
}

describe('a whole life', () => {
  it('queued, in progress with growing progress, and completed within three seconds', async () => {
    const made = await client.videos.create({ model: 'replay', prompt: 'A boat.', seconds: '4', size: '1280x720' })
    expect(made).toMatchObject({ object: 'video', status: 'queued', progress: 0, seconds: '4', size: '1280x720' })
    const seen = await ended(made.id)
    expect(seen.map(({ status }) => status)).toEqual(['queued', 'in_progress', 'in_progress', 'completed'])
    const progress = seen.map(one => one.progress)
    expect(progress).toEqual(progress.toSorted((a, b) => a - b))
    expect(new Set(progress).size).toBe(4)
    expect(seen.at(-1)).toMatchObject({ progress: 100, error: null, completed_at: expect.any(Number) })
  })

  it('is the same at another replay, which never saw the task, and after a restart', async () => {
    const made = await client.videos.create({ model: 'replay', prompt: 'A boat.', seconds: '8', size: '1024x1792' })
    const other = await openMock({ now: () => clock })
    try {
      const there = new OpenAI({ apiKey: 'none', baseURL: `${other.url}/v1`, maxRetries: 0 })
      const { prompt: _, ...seen } = await client.videos.retrieve(made.id)
      expect(await there.videos.retrieve(made.id)).toEqual(seen)
      expect((await ended(made.id, there)).at(-1)).toMatchObject({
        status: 'completed',
        seconds: '8',
        size: '1024x1792',
      })
      const [one, two] = await Promise.all([client, there].map(from => from.videos.downloadContent(made.id)))
      expect(Buffer.from(await two!.arrayBuffer()).equals(Buffer.from(await one!.arrayBuffer()))).toBe(true)
      const failing = await client.videos.create({ model: 'replay-videos-blocked', prompt: 'Anything.' })
      expect((await ended(failing.id, there)).at(-1)).toMatchObject({ error: { code: 'moderation_blocked' } })
      const rubbish = ['video_replay_', 'video_replay_e30', 'video_replay_WzEsMl0', 'video_replay_%00']
      for (const id of rubbish) await expect(there.videos.retrieve(id)).rejects.toMatchObject({ status: 404 })
    } finally {
      await other.close()
    }
  })

  it('one model fails by a review of content', async () => {
    const made = await client.videos.create({ model: 'replay-videos-blocked', prompt: 'Anything.' })
    const seen = await ended(made.id)
    expect(seen.at(-1)).toMatchObject({ status: 'failed', error: { code: 'moderation_blocked' } })
    expect(seen.length).toBeLessThan(6)
    await expect(client.videos.downloadContent(made.id)).rejects.toMatchObject({ status: 404 })
  })

  it('takes a form with a picture', async () => {
    const input_reference = await toFile(PIXEL, 'a.png', { type: 'image/png' })
    expect((await client.videos.create({ prompt: 'a', input_reference })).status).toBe('queued')
  })
})

describe('files', () => {
  const finished = async () => {
    const { id } = await client.videos.create({ prompt: 'A boat.', seconds: '4', size: '1280x720' })
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
        status: 400,
      })
  })

  it('not before the end', async () => {
    const { id } = await client.videos.create({ prompt: 'a' })
    await expect(client.videos.downloadContent(id)).rejects.toMatchObject({ status: 404 })
    await expect(client.videos.remix(id, { prompt: 'b' })).rejects.toMatchObject({ status: 400 })
  })
})

describe('remix, list, delete', () => {
  it('a remix is a task of its own that names the first', async () => {
    const { id } = await client.videos.create({ prompt: 'a', seconds: '8' })
    await ended(id)
    const remix = await client.videos.remix(id, { prompt: 'b' })
    expect(remix).toMatchObject({ status: 'queued', remixed_from_video_id: id, prompt: 'b', seconds: '8' })
    const [newest, ...others] = (await client.videos.list({ limit: 2 })).data
    expect([newest!.id, others[0]!.id]).toEqual([remix.id, id])
    expect((await client.videos.list({ limit: 1, after: remix.id })).data[0]!.id).toBe(id)
    await client.videos.delete(id)
    await expect(client.videos.retrieve(id)).rejects.toMatchObject({ status: 404 })
  })

  it('requests without a prompt, of other methods and about nothing are refused', async () => {
    await expect(client.videos.create({} as never)).rejects.toMatchObject({ status: 400 })
    await expect(client.videos.retrieve('video_none')).rejects.toMatchObject({ status: 404 })
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

  const VIDEOS = SIZES.flatMap(size => LENGTHS.map(seconds => ({ size, seconds })))

  it.each(VIDEOS)('$size, $seconds s: its boxes hold what their tables say', async ({ size, seconds }) => {
    const { id } = await client.videos.create({ prompt: 'a', size, seconds: `${seconds}` as '4' })
    await ended(id)
    const bytes = Buffer.from(await (await client.videos.downloadContent(id)).arrayBuffer())
    const track = ['moov', 'trak']
    const table = [...track, 'mdia', 'minf', 'stbl']
    const { end: trackEnd } = inside(bytes, [...track, 'tkhd'])
    const sides = [bytes.readUInt32BE(trackEnd - 8), bytes.readUInt32BE(trackEnd - 4)].map(side => side / 65_536)
    expect(sides.join('x')).toBe(size)
    const { begin: header } = inside(bytes, ['moov', 'mvhd'])
    expect(bytes.readUInt32BE(header + 16) / bytes.readUInt32BE(header + 12)).toBe(seconds)
    const { begin: sizesAt } = inside(bytes, [...table, 'stsz'])
    const count = bytes.readUInt32BE(sizesAt + 8)
    const samples = Array.from({ length: count }, (_, index) => bytes.readUInt32BE(sizesAt + 12 + 4 * index))
    const { begin, end } = inside(bytes, ['mdat'])
    expect(bytes.readUInt32BE(inside(bytes, [...table, 'stco']).begin + 8)).toBe(begin)
    expect(samples.reduce((sum, one) => sum + one, 0)).toBe(end - begin)
    expect(bytes.length).toBeLessThan(65_536)
  })

  it.each(SIZES)('the thumbnail of %s is a WebP of its size', async size => {
    const { id } = await client.videos.create({ prompt: 'a', size })
    await ended(id)
    const bytes = Buffer.from(await (await client.videos.downloadContent(id, { variant: 'thumbnail' })).arrayBuffer())
    expect([bytes.toString('latin1', 0, 4), bytes.toString('latin1', 8, 16)]).toEqual(['RIFF', 'WEBPVP8L'])
    expect(bytes.readUInt32LE(4)).toBe(bytes.length - 8)
    const sides = bytes.readUInt32LE(21)
    expect(`${(sides & 0x3fff) + 1}x${((sides >> 14) & 0x3fff) + 1}`).toBe(size)
  })

  it('a size or a length that was not recorded gets the nearest one, and the task says so', async () => {
    const nearest = async (size: string, seconds: string) => {
      const made = await client.videos.create({ prompt: 'a', size: size as '1280x720', seconds: seconds as '4' })
      return `${made.size} ${made.seconds}`
    }
    expect(await nearest('640x360', '5')).toBe('1280x720 4')
    expect(await nearest('1080x1920', '100')).toBe('720x1280 12')
    expect(await nearest('1750x1000', '9')).toBe('1792x1024 8')
    expect(await nearest('nothing', 'long')).toBe('720x1280 4')
  })
})

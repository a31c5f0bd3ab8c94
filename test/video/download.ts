import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { KEY } from '../builders/config.ts'
import { PUBLIC, VideoStage } from './stage.ts'
import { clipBytes } from './upstreams/index.ts'

/*
 * `node --expose-gc download.ts SIZE`: downloads half of a video of SIZE bytes, disconnects, resumes there, compares
 * every byte, and prints as JSON the most buffer bytes held by gateway, upstream and caller together.
 */

/** Number of bytes between two samples of the memory. */
const SAMPLE = 32 * 2 ** 20

const SIZE = Number(process.argv[2])

/** Number of bytes in buffers that are still referenced. */
function held(): number {
  globalThis.gc!()
  // The first collection frees in the background what the second waits for.
  globalThis.gc!()
  return process.memoryUsage().arrayBuffers
}

const stage = await VideoStage.open('videos', { tasks: { poll: 20 } })
const { client, upstream } = stage
upstream.size = SIZE
const { id } = await client.videos.create({ model: PUBLIC, prompt: 'a' })
await stage.ended(id)
const clip = { seed: upstream.last.id, size: SIZE, mediaType: 'video/mp4' }
const before = held()
let most = 0

/** Reads the bytes between two offsets and disconnects. Returns the offset it reached. */
const read = (from: number, until: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const url = `${stage.testServer.server.address}/v1/videos/${id}/content`
    const headers = { authorization: `Bearer ${KEY}`, range: `bytes=${from}-` }
    const out = request(url, { headers, agent: false }, answer => {
      let at = from
      answer.on('data', (chunk: Buffer) => {
        if (Math.floor(at / SAMPLE) !== Math.floor((at + chunk.length) / SAMPLE)) most = Math.max(most, held() - before)
        if (!chunk.equals(clipBytes(clip, at, at + chunk.length))) reject(new Error(`Other bytes at ${at}.`))
        at += chunk.length
        if (at < until) return
        answer.destroy()
        resolve(at)
      })
      answer.on('end', () => resolve(at))
      answer.on('close', () => reject(new Error(`The answer broke off at ${at}.`)))
    })
    out.on('error', reject).end()
  })

const reached = await read(0, SIZE / 2)
for (let tries = 0; upstream.aborted === 0 && tries < 100; tries++) await sleep(50)
const size = await read(reached, Number.POSITIVE_INFINITY)
process.stdout.write(JSON.stringify({ held: most, size, aborted: upstream.aborted }))
await stage.close()

import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { ImageStore } from '../../src/gateway/image-store.ts'
import { Spool } from '../../src/ingress/transport/spool.ts'
import { SILENT } from '../../src/log.ts'
import { UNAVAILABLE } from '../../src/store/fault.ts'
import { LazyStore } from '../../src/store/lazy-store.ts'
import { openSqlite } from '../../src/store/store.ts'
import { json } from '../builders/chat.ts'
import { channelAt } from '../builders/config.ts'
import { inDatabase, ON_FILES } from '../builders/engines.ts'
import type { TestServer } from '../builders/gateway.ts'
import { GET } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'
import { fillDisk, watchStatements } from '../builders/statements.ts'
import { SOON } from '../builders/time.ts'
import { DAY, HOUR } from '../builders/units.ts'
import { scratch } from './stored/test-server.ts'

/*
 * Images under attack: a disk that is full while they are stored, copied and sent, clocks that jump across their hour,
 * and images of one answer that are stored in another order.
 */

const { closing, openGateway, openUpstream } = opener()
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const PATH = '/v1/images/generations'
const asking = (more: object = {}) => ({ model: 'm', prompt: 'p', response_format: 'url', ...more })

/** A gateway before an upstream that answers with the given images. */
async function open(images: readonly Buffer[], folder = scratch()) {
  closing.push(() => folder.drop())
  const data = images.map(image => ({ b64_json: image.toString('base64') }))
  const upstream = await openUpstream(response => json(response, { created: 1, data }))
  const gateway = await openGateway([channelAt(upstream.address, { format: 'images' })], { keep: folder.path })
  return { gateway, upstream, folder }
}

const pathOf = (url: string): string => new URL(url).pathname

/** Downloads an image. */
function download(gateway: TestServer, url: string): Promise<{ readonly status: number; readonly bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    const out = request(`${gateway.server.address}${pathOf(url)}`, { agent: false }, answer => {
      const chunks: Buffer[] = []
      answer.on('data', chunk => chunks.push(chunk))
      answer.on('end', () => resolve({ status: answer.statusCode!, bytes: Buffer.concat(chunks) }))
      answer.on('error', reject)
    })
    out.on('error', reject).end()
  })
}

const noSpace = () => Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })

/** Lets each temporary file take only so many bytes. */
function fillTemporary(bytes: number): () => void {
  const fill = Spool.prototype.fill
  const spy = vi.spyOn(Spool.prototype, 'fill').mockImplementation(async function (this: Spool, chunks, rest, count) {
    let room = bytes
    return fill.call(this, chunks, rest, (size: number) => {
      count?.(size)
      room -= size
      if (room < 0) throw noSpace()
    })
  })
  return () => spy.mockRestore()
}

describe.runIf(ON_FILES)('a full disk of the store', () => {
  test('leaves no half image, and callers get addresses that work as long as the process runs', async () => {
    const watched = watchStatements()
    closing.push(() => watched.end())
    const images = [randomBytes(900_000), randomBytes(10), randomBytes(700_000)]
    const { gateway, folder } = await open(images)
    const before = await gateway.ask(PATH, asking({ n: 3 }))
    expect(before.status).toBe(200)
    const makeRoom = fillDisk(watched)
    const { status, json: answer } = await gateway.ask(PATH, asking({ n: 3 }))
    expect(status).toBe(200)
    for (const [at, { url }] of answer.data.entries()) {
      const found = await download(gateway, url)
      expect([found.status, found.bytes.equals(images[at]!)]).toEqual([200, true])
    }
    for (const [at, { url }] of before.json.data.entries())
      expect((await download(gateway, url)).bytes.equals(images[at]!)).toBe(true)
    makeRoom()
    const counts = async () => {
      const whole = await inDatabase(folder.path, 'select count(*) as count from pictures where place > 0')
      const half = await inDatabase(
        folder.path,
        'select count(*) as count from picture_bytes where picture not in (select id from pictures where place > 0)',
      )
      return [whole, half].map(([row]) => Number((row as { count: number }).count))
    }
    const [stored, half] = await counts()
    expect([stored! >= 3, half]).toEqual([true, 0])
    await vi.waitFor(async () => {
      await gateway.ask(PATH, asking({ n: 3 }))
      expect((await counts())[0]).toBeGreaterThanOrEqual(stored! + 3)
    }, SOON)
    expect((await counts())[1]).toBe(0)
  })

  test('at whichever chunk it is full leaves no half image, none that is found, and the others whole', async () => {
    const watched = watchStatements()
    closing.push(() => watched.end())
    const folder = scratch()
    closing.push(() => folder.drop())
    const path = join(folder.path, 'x.sqlite')
    const store = await openSqlite(path)
    closing.push(() => store.close())
    const [connection] = watched.connections
    const numberIn = (pragma: string) => Number(Object.values(connection!.prepare(`pragma ${pragma}`).get()!)[0])
    const limits = { count: 9, size: 1e9 }
    const image = (id: string, bytes: Buffer) => ({
      ...{ id, mediaType: 'image/png', expiresAt: Date.now() + HOUR },
      read: async function* () {
        for (let at = 0; at < bytes.length; at += 100_000) yield bytes.subarray(at, at + 100_000)
      },
    })
    const bytes = randomBytes(600_000)
    await store.shared.putImage(image('first', bytes), limits)
    let failures = 0
    for (let more = 0; ; more += 9) {
      connection!.exec(`pragma max_page_count = ${numberIn('page_count') - numberIn('freelist_count') + more}`)
      const stored = await store.shared.putImage(image('second', bytes), limits).then(
        () => true,
        () => false,
      )
      if (stored) break
      failures++
      expect(await store.shared.image('second')).toBeUndefined()
      expect(connection!.prepare("select count(*) as n from picture_bytes where picture = 'second'").get()).toEqual({
        n: 0,
      })
    }
    expect(failures).toBeGreaterThan(5)
    for (const id of ['first', 'second']) {
      const found = (await store.shared.image(id))!
      expect(Buffer.concat(await Array.fromAsync(found.read())).equals(bytes)).toBe(true)
    }
  })
})

describe('a full disk of temporary files', () => {
  test('returns the bytes instead of an address, says so, and holds no file open', async () => {
    const image = randomBytes(900_000)
    const { gateway } = await open([image])
    const makeRoom = fillTemporary(500_000)
    const [opened, close] = [vi.spyOn(Spool, 'open'), vi.spyOn(Spool.prototype, 'close')]
    const { status, headers, json: answer } = await gateway.ask(PATH, asking())
    expect([status, headers['interlingua-loss']]).toEqual([200, expect.stringContaining('image-not-kept')])
    expect(Buffer.from(answer.data[0].b64_json, 'base64').equals(image)).toBe(true)
    expect(opened).toHaveBeenCalledTimes(1)
    expect(close.mock.contexts).toContain(await opened.mock.results[0]!.value)
    makeRoom()
    const { url } = (await gateway.ask(PATH, asking())).json.data[0]
    expect((await download(gateway, url)).bytes.equals(image)).toBe(true)
  })

  test('that is full while another instance copies an image is a 503, and the image is there with room', async () => {
    const image = randomBytes(900_000)
    const folder = scratch()
    const { gateway } = await open([image], folder)
    const other = await openGateway([], { keep: folder.path })
    const { url } = (await gateway.ask(PATH, asking())).json.data[0]
    const makeRoom = fillTemporary(500_000)
    const refused = await other.ask(pathOf(url), undefined, GET)
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '2'])
    expect((await download(gateway, url)).status).toBe(200)
    vi.spyOn(Spool, 'open').mockRejectedValueOnce(noSpace())
    expect((await other.ask(pathOf(url), undefined, GET)).status).toBe(503)
    makeRoom()
    expect((await download(other, url)).bytes.equals(image)).toBe(true)
    expect(other.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  test('and a store that is away refuse an image that other processes serve, and keep no file of it', async () => {
    const [opened, close] = [vi.spyOn(Spool, 'open'), vi.spyOn(Spool.prototype, 'close')]
    const shared = { putImage: () => Promise.reject(UNAVAILABLE), image: async () => undefined }
    const images = new ImageStore({ shared, hasOthers: () => true })
    await expect(images.add('image/png', [randomBytes(10)])).rejects.toBe(UNAVAILABLE)
    expect(opened).toHaveBeenCalledTimes(1)
    expect(close.mock.contexts).toContain(await opened.mock.results[0]!.value)
    images.close()
  })
})

describe('a clock that jumps', () => {
  const start = Date.UTC(2026, 10, 22)

  async function instances() {
    let now = start
    const store = await openSqlite(':memory:', () => now)
    const [one, two] = [0, 1].map(() => new ImageStore({ shared: store.shared, hasOthers: () => true, now: () => now }))
    closing.push(
      () => store.close(),
      () => one!.close(),
      () => two!.close(),
    )
    return { one: one!, two: two!, store, set: (time: number) => void (now = time) }
  }

  test.each([2 * HOUR, DAY, 400 * DAY])(
    'forward by %d ms hides an image, and right again shows it everywhere',
    async jump => {
      const { one, two, set } = await instances()
      const token = await one.add('image/png', [Buffer.from('a boat')])
      set(start + jump)
      expect([await one.get(token), await two.get(token)]).toEqual([undefined, undefined])
      set(start + 1000)
      for (const instance of [one, two]) {
        const found = (await instance.get(token))!
        expect([Buffer.concat(await Array.fromAsync(found.bytes.read())).toString(), found.seconds]).toEqual([
          'a boat',
          3599,
        ])
      }
    },
  )

  test.each([2 * HOUR, DAY, 400 * DAY])(
    'back by %d ms lets nobody cache an image for longer than its hour',
    async jump => {
      const { one, two, set } = await instances()
      const token = await one.add('image/png', [Buffer.from('a boat')])
      set(start - jump)
      expect([(await one.get(token))!.seconds, (await two.get(token))!.seconds]).toEqual([3600, 3600])
      set(start + HOUR)
      expect([await one.get(token), await two.get(token)]).toEqual([undefined, undefined])
    },
  )

  test('while an image is being read lets the reader finish', async () => {
    const { one, set } = await instances()
    const bytes = randomBytes(900_000)
    const token = await one.add('image/png', [bytes])
    const reading = (await one.get(token))!.bytes.read()[Symbol.asyncIterator]()
    const chunks = [(await reading.next()).value!]
    set(start + DAY)
    expect(await one.get(token)).toBeUndefined()
    set(start - DAY)
    for (let step = await reading.next(); step.done !== true; step = await reading.next()) chunks.push(step.value)
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true)
  })

  test('evicts the oldest by the order of storing, not by their times', async () => {
    let now = start
    const store = await openSqlite(':memory:', () => now)
    closing.push(() => store.close())
    const images = new ImageStore({ shared: store.shared, hasOthers: () => true, now: () => now, limits: { count: 2 } })
    closing.push(() => images.close())
    const tokens: string[] = []
    for (const jump of [DAY, 0, -DAY]) {
      now = start + jump
      tokens.push(await images.add('image/png', [Buffer.from(`${jump}`)]))
    }
    now = start - DAY + 1
    const found = await Promise.all(tokens.map(token => images.get(token)))
    expect(found.map(one => one !== undefined)).toEqual([false, true, true])
  })
})

describe('a caller that leaves in the middle of a download', () => {
  test('leaves the image whole for all others', async () => {
    const image = randomBytes(4_000_000)
    const { gateway } = await open([image])
    const { url } = (await gateway.ask(PATH, asking())).json.data[0]
    for (let time = 0; time < 3; time++) {
      const answer = await gateway.send(pathOf(url), undefined, GET).answer
      await new Promise(resolve => answer.once('data', resolve))
      answer.destroy()
      await new Promise(resolve => answer.once('close', resolve))
      const found = await download(gateway, url)
      expect([found.status, found.bytes.equals(image)]).toEqual([200, true])
    }
  })
})

describe('images that are stored in another order', () => {
  test('stand in the answer in the order of the upstream, each under its own address', async () => {
    const images = [
      randomBytes(3_000_000),
      randomBytes(10),
      randomBytes(1_000_000),
      randomBytes(1),
      randomBytes(2_000_000),
    ]
    const { gateway } = await open(images)
    const answers = await Promise.all([1, 2, 3].map(() => gateway.ask(PATH, asking({ n: images.length }))))
    const urls = answers.flatMap(({ json: answer }) => answer.data.map(({ url }: { url: string }) => url))
    expect(new Set(urls).size).toBe(3 * images.length)
    for (const [at, url] of shuffledPairs(urls)) {
      const { status, bytes } = await download(gateway, url)
      expect([status, bytes.equals(images[at % images.length]!)]).toEqual([200, true])
    }
  })

  test('and requested before they are stored, are not there yet and never half', async () => {
    const store = new LazyStore({ engine: 'sqlite', path: ':memory:' }, scratch().path, SILENT)
    closing.push(() => store.close())
    const [one, two] = [0, 1].map(() => new ImageStore({ shared: store.shared, hasOthers: () => true }))
    closing.push(
      () => one!.close(),
      () => two!.close(),
    )
    const bytes = randomBytes(2_000_000)
    const ids: string[] = []
    const gate = Promise.withResolvers<void>()
    const shared = {
      image: store.shared.image,
      putImage: async (
        image: Parameters<typeof store.shared.putImage>[0],
        limits: Parameters<typeof store.shared.putImage>[1],
      ) => {
        ids.push(image.id)
        const read = async function* () {
          for await (const chunk of image.read()) {
            yield chunk
            await gate.promise
          }
        }
        await store.shared.putImage({ ...image, read }, limits)
      },
    }
    const slow = new ImageStore({ shared, hasOthers: () => true })
    closing.push(() => slow.close())
    const adding = slow.add('image/png', [bytes])
    await vi.waitFor(() => expect(ids).toHaveLength(1), SOON)
    expect(await store.shared.image(ids[0]!)).toBeUndefined()
    // Another image is stored meanwhile.
    const quick = await one!.add('image/png', [Buffer.from('quick')])
    gate.resolve()
    const token = await adding
    const found = await two!.get(token)
    expect(Buffer.concat(await Array.fromAsync(found!.bytes.read())).equals(bytes)).toBe(true)
    expect((await two!.get(quick))!.bytes.size).toBe(5)
  })

  test('events of a stream that come before their beginning, twice or after the end, end the stream in one way', async () => {
    const image = randomBytes(30).toString('base64')
    const partial = { type: 'image_generation.partial_image', b64_json: image, partial_image_index: 0 }
    const completed = {
      type: 'image_generation.completed',
      b64_json: image,
      output_format: 'png',
      usage: { total_tokens: 1 },
    }
    for (const events of [
      [completed, partial],
      [completed, completed],
      [partial, completed, partial, completed],
      [{ ...partial, partial_image_index: 3 }, partial, completed],
      [{ type: 'unknown' }, completed],
    ]) {
      const upstream = await openUpstream(response => {
        const text = events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)
      })
      const gateway = await openGateway([channelAt(upstream.address, { format: 'images' })])
      const body = { model: 'm', prompt: 'p', stream: true, partial_images: 2 }
      const { status, text } = await gateway.ask(PATH, body)
      expect(status).toBe(200)
      const names = [...text.matchAll(/^event: (\S+)$/gm)].map(([, name]) => name)
      const isCut = events.at(-1) === partial
      expect(names.filter(name => name === completed.type)).toHaveLength(events.filter(one => one === completed).length)
      // A stream that ends after a partial image was cut short.
      expect(names.at(-1)).toBe(isCut ? 'error' : completed.type)
      expect(names.filter(name => name === 'error')).toHaveLength(isCut ? 1 : 0)
    }
  })
})

/** Pairs of index and value, the last first and the odd ones before the even ones. */
const shuffledPairs = <T>(list: readonly T[]): [number, T][] =>
  [...list.entries()].toReversed().sort(([a], [b]) => (b % 2) - (a % 2))

import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { KEY } from '../builders/config.ts'
import { PUBLIC, type StageOptions, VideoStage } from './stage.ts'
import type { Kind, OpenAIVideos } from './upstreams/index.ts'

/* Faulty storage services and downloaders, by mistake or on purpose. */

const closing: (() => unknown)[] = []
let stage: VideoStage | undefined
afterEach(async () => {
  await stage?.close()
  stage = undefined
  for (const close of closing.splice(0)) await close()
})

const open = async (kind: Kind = 'videos', options: StageOptions = {}) =>
  (stage = await VideoStage.open(kind, { tasks: { poll: 20 }, ...options }))

const ask = (path: string, body?: unknown, headers = {}, method = body === undefined ? 'GET' : 'POST') =>
  stage!.testServer.ask(path, body, { method, headers })

async function finished(): Promise<string> {
  const { id } = await stage!.client.videos.create({ model: PUBLIC, prompt: 'a' })
  await stage!.ended(id)
  return id
}

/** A storage that answers as the test demands and records its requests. */
async function files(answer: (message: IncomingMessage, response: ServerResponse) => void) {
  const seen: IncomingMessage[] = []
  const server: Server = createServer((message, response) => {
    seen.push(message)
    answer(message, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { seen, server, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

describe('content', () => {
  const stored = async (
    answer: (message: IncomingMessage, response: ServerResponse) => void,
    options: StageOptions = {},
  ) => {
    const storage = await files(answer)
    await open('videos', options)
    ;(stage!.upstream as OpenAIVideos).storage = storage.address
    return { storage, id: await finished() }
  }
  const content = (id: string, headers = {}, method = 'GET') =>
    ask(`/v1/videos/${id}/content`, undefined, headers, method)

  test.each(['text/html; charset=utf-8', 'application/json', 'application/xml', 'text/plain'])(
    'that is %s is no video',
    async type => {
      const { id } = await stored((_, response) =>
        response.writeHead(200, { 'content-type': type }).end('<html>please log in</html>'),
      )
      const answer = await content(id)
      expect(answer.status).toBe(502)
      expect(answer.text).not.toContain('log in')
    },
  )

  test.each([
    ['video/mp4', '<!DOCTYPE html><html>please log in</html>'],
    ['video/mp4', '\n<?xml version="1.0"?><Error>please log in</Error>'],
    ['application/octet-stream', '{"error":{"message":"please log in"}}'],
    ['video/mp4', ''],
  ])('that is called %s is no video where it is %j', async (type, said) => {
    const { id } = await stored((_, response) => response.writeHead(200, { 'content-type': type }).end(said))
    const answer = await content(id)
    expect(answer.status).toBe(502)
    expect(answer.text).not.toContain('log in')
  })

  test('of which a part was requested may begin like a message', async () => {
    const headers = { 'content-type': 'video/mp4', 'content-range': 'bytes 1-6/100' }
    const { id } = await stored((_, response) => response.writeHead(206, headers).end('<html>'))
    expect(await content(id, { range: 'bytes=1-6' })).toMatchObject({ status: 206, text: '<html>' })
  })

  test.each(['application/octet-stream', 'binary/octet-stream', undefined])(
    'of the media type %s is a video',
    async type => {
      const { id } = await stored((_, response) =>
        response.writeHead(200, type === undefined ? {} : { 'content-type': type }).end('bytes'),
      )
      expect(await content(id)).toMatchObject({ status: 200, text: 'bytes', headers: { 'content-type': 'video/mp4' } })
    },
  )

  test('that breaks off, is shorter or longer than it says, breaks off at the caller', async () => {
    const forms: ((response: ServerResponse) => void)[] = [
      response => {
        response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': 1000 })
        response.write('half', () => response.destroy())
      },
      response => {
        response.writeHead(200, { 'content-type': 'video/mp4' })
        response.write('half', () => setTimeout(() => response.destroy(), 20))
      },
    ]
    let form = 0
    const { id } = await stored((_, response) => forms[form]!(response))
    for (form = 0; form < forms.length; form++) {
      const answer = await fetch(`${stage!.testServer.server.address}/v1/videos/${id}/content`, {
        headers: { authorization: `Bearer ${KEY}` },
      })
      await expect(answer.arrayBuffer()).rejects.toThrow()
    }
    expect((await ask(`/v1/videos/${id}`)).status).toBe(200)
  })

  test('behind redirects to a private address, a file, another scheme or a loop is not fetched', async () => {
    const secret = await files((_, response) => response.end('secret'))
    const targets = [
      'file:///etc/passwd',
      'http://169.254.169.254/latest',
      'http://[::1]:1/',
      'ftp://127.0.0.1/',
      'data:video/mp4;base64,AAAA',
      'javascript:1',
      'http://localhost:1/',
      'http://0.0.0.0/',
      'http://10.0.0.1/',
      '//',
      'http://',
      secret.address,
    ]
    let target = ''
    const { storage, id } = await stored((_, response) => response.writeHead(302, { location: target }).end(), {
      allow: [],
    })
    expect((await content(id)).status).toBe(502)
    expect(storage.seen).toEqual([])
    await stage!.close()
    const second = await stored((_, response) => response.writeHead(302, { location: target }).end(), { allow: [] })
    // The upstream itself redirects.
    for (target of targets) {
      stage!.upstream.fail('content', { refuse: 302, headers: { location: target }, body: '' })
      const answer = await content(second.id)
      expect([404, 410, 502], target).toContain(answer.status)
      expect(answer.text).not.toContain('secret')
    }
    expect(secret.seen).toEqual([])
  })

  test('behind a redirect without a host is beside the file', async () => {
    await open()
    const id = await finished()
    stage!.upstream.fail('content', { refuse: 302, headers: { location: 'elsewhere/a.mp4' }, body: '' })
    await content(id)
    const [asked, followed] = stage!.upstream.seen.slice(-2).map(({ url }) => url.pathname)
    expect(followed).toBe(asked!.replace(/content$/, 'elsewhere/a.mp4'))
  })

  test('behind a loop of redirects ends', async () => {
    let hops = 0
    const { storage, id } = await stored((message, response) =>
      response.writeHead(302, { location: `${message.url}&${++hops}` }).end(),
    )
    expect((await content(id)).status).toBe(502)
    expect(storage.seen.length).toBeLessThan(6)
  })

  test('at another host is fetched without credential, cookie or caller’s headers', async () => {
    const { storage, id } = await stored((_, response) =>
      response.writeHead(200, { 'content-type': 'video/mp4', 'set-cookie': 'a=b', 'x-internal': 'y' }).end('x'),
    )
    const answer = await content(id, { cookie: 'c=d', 'x-api-key': 'k', referer: 'r' })
    expect(answer.status).toBe(200)
    expect(Object.keys(answer.headers)).not.toContain('set-cookie')
    expect(Object.keys(answer.headers)).not.toContain('x-internal')
    for (const { headers } of storage.seen)
      for (const name of ['authorization', 'cookie', 'x-api-key', 'referer']) expect(headers[name]).toBeUndefined()
  })

  const RANGES: readonly (readonly [string, number, string | undefined])[] = [
    ['bytes=0-0', 206, 'bytes 0-0/4096'],
    ['bytes=0-', 206, 'bytes 0-4095/4096'],
    ['bytes=-1', 206, 'bytes 4095-4095/4096'],
    ['bytes=-99999', 206, 'bytes 0-4095/4096'],
    ['bytes=4095-99999', 206, 'bytes 4095-4095/4096'],
    ['bytes=4096-', 416, 'bytes */4096'],
    ['bytes=0-1,3-4', 200, undefined],
    ['bytes=5-2', 200, undefined],
    ['bytes=a-b', 200, undefined],
    ['bytes=-', 200, undefined],
    ['lines=1-2', 200, undefined],
    ['bytes=1e1-2', 200, undefined],
    ['x'.repeat(3000), 200, undefined],
  ]
  test.each([0, 3_600_000])('in ranges of any form, kept for %d ms', async keep => {
    const { upstream } = await open('videos', { tasks: { poll: 20, retention: keep } })
    const id = await finished()
    if (keep > 0) await stage!.storedVideo(id)
    for (const [range, status, part] of RANGES) {
      const answer = await content(id, { range })
      expect([answer.status, answer.headers['content-range']], range.slice(0, 30)).toEqual([status, part])
      const head = await content(id, { range }, 'HEAD')
      expect([head.status, head.text, head.headers['content-length']], range).toEqual([
        status,
        '',
        answer.headers['content-length'],
      ])
    }
    if (keep === 0)
      for (const { headers } of upstream.seen.filter(one => one.step === 'content'))
        expect(headers.range ?? 'bytes=0-').toMatch(/^bytes=\d*-\d*$/)
  })

  test('that 200 callers leave frees its connections', async () => {
    const { upstream } = await open()
    upstream.size = 8 * 2 ** 20
    const id = await finished()
    const leave = () =>
      new Promise<void>(resolve => {
        const out = request(
          `${stage!.testServer.server.address}/v1/videos/${id}/content`,
          { agent: false, headers: { authorization: `Bearer ${KEY}` } },
          answer =>
            answer.once('data', () => {
              answer.destroy()
              resolve()
            }),
        )
        out.on('error', () => resolve()).end()
      })
    for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 20 }, leave))
    expect(upstream.count('content')).toBeGreaterThanOrEqual(200)
    await expect.poll(() => upstream.connections()).toBeLessThan(10)
  })
})

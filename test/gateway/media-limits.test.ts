import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import type { ChannelConfig } from '../../src/config/index.ts'
import { Media } from '../../src/gateway/media.ts'
import { AddressGuard } from '../../src/upstreams/channel/address-guard.ts'
import { MediaFetcher } from '../../src/upstreams/channel/fetch.ts'
import type { Target } from '../../src/upstreams/router.ts'
import { ANSWER, json } from '../builders/chat.ts'
import { channelAt, LOOPBACK, type TestServerOptions } from '../builders/config.ts'
import { VERSION_HEADERS } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'
import { TIMED, until } from '../builders/time.ts'
import type { FakeUpstream, Script } from '../builders/upstream.ts'

const { closing, open: openBefore, openUpstream } = opener()

const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
const SAID = { candidates: [{ content: { role: 'model', parts: [{ text: 'Seen.' }] }, finishReason: 'STOP' }] }
const serving = (script: (response: ServerResponse, path: string) => unknown): Promise<FakeUpstream> =>
  openUpstream((response, { url }) => script(response, url))

/** Starts a gateway with an upstream of contents, which takes no addresses, or of chat, which does. */
async function open(
  format: 'contents' | 'chat',
  allow?: readonly string[],
  more: Partial<ChannelConfig> = {},
  limits: NonNullable<TestServerOptions['limits']> = {},
) {
  const script: Script = response => json(response, format === 'chat' ? ANSWER : SAID)
  const dialect = format === 'chat' ? {} : { fetch_urls: true }
  const options = allow === undefined ? { limits } : { allow, limits }
  return openBefore(script, options, { format, dialect, ...more })
}

const asking = (urls: readonly string[]) => ({
  model: 'm',
  max_tokens: 10,
  messages: [{ role: 'user', content: urls.map(url => ({ type: 'image', source: { type: 'url', url } })) }],
})

const picture = (size: number) => (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.concat([PNG, Buffer.alloc(size - PNG.length)]))

describe('media of one request', () => {
  test('are no more bytes together than the limit, each as often as it is named', async () => {
    const pages = await serving(picture(400_000))
    const { testServer, upstream } = await open('contents', LOOPBACK)
    const at = (count: number, one = (index: number) => `${pages.address}/${index}`) =>
      testServer.ask('/v1/messages', asking(Array.from({ length: count }, (_, index) => one(index))), VERSION_HEADERS)
    expect((await at(5)).status).toBe(200)
    const many = await at(6)
    expect(many.status).toBe(413)
    expect(many.json.error.message).toContain('in total')
    expect((await at(6, () => `${pages.address}/same`)).status).toBe(413)
    expect(upstream.seen).toHaveLength(1)
  })

  test('are no more things than the limit', async () => {
    const pages = await serving(picture(100))
    const { testServer } = await open('contents', LOOPBACK)
    const urls = Array.from({ length: 21 }, (_, index) => `${pages.address}/${index}`)
    expect((await testServer.ask('/v1/messages', asking(urls.slice(1)), VERSION_HEADERS)).status).toBe(200)
    expect((await testServer.ask('/v1/messages', asking(urls), VERSION_HEADERS)).status).toBe(413)
  })

  test('are fetched once from an address', async () => {
    const pages = await serving(picture(100))
    const { testServer, upstream } = await open('contents', LOOPBACK)
    const url = `${pages.address}/a.png`
    expect((await testServer.ask('/v1/messages', asking([url, url, url]), VERSION_HEADERS)).status).toBe(200)
    expect(pages.seen).toHaveLength(1)
    expect(JSON.parse(upstream.seen[0]!.text).contents[0].parts).toHaveLength(3)
  })

  test('count as bytes that wait while they are fetched, and no longer', async () => {
    const pages = await serving((response, path) =>
      path === '/slow' ? response.writeHead(200).write(Buffer.alloc(600_000, PNG)) : picture(600_000)(response),
    )
    const { testServer } = await open('contents', LOOPBACK, {}, { waiting: { key: 1_000_000, all: 2 ** 30 } })
    const one = () => testServer.ask('/v1/messages', asking([`${pages.address}/quick`]), VERSION_HEADERS)
    expect([(await one()).status, (await one()).status]).toEqual([200, 200])
    const slow = testServer.send('/v1/messages', asking([`${pages.address}/slow`]), VERSION_HEADERS)
    slow.answer.catch(() => {})
    await until(() => pages.seen.some(({ url }) => url === '/slow'))
    await new Promise(resolve => setTimeout(resolve, 100))
    expect((await one()).status).toBe(503)
    slow.out.destroy()
    await until(() => testServer.lines.some(({ fields }) => fields['status'] === 499))
    expect((await one()).status).toBe(200)
  })

  test('are not fetched any more once one of them failed', TIMED, async () => {
    const pages = await serving((response, path) =>
      path === '/gone' ? setTimeout(() => response.writeHead(404).end(), 50) : response.writeHead(200).write('x'),
    )
    const { testServer } = await open('contents', LOOPBACK)
    const began = performance.now()
    const answer = await testServer.ask(
      '/v1/messages',
      asking(['/slow', '/gone'].map(path => pages.address + path)),
      VERSION_HEADERS,
    )
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('404')
    await until(() => pages.seen.find(({ url }) => url === '/slow')?.brokenAt !== undefined)
    expect(performance.now() - began).toBeLessThan(1500)
  })

  test('are not fetched any more once the caller left', TIMED, async () => {
    const pages = await serving(response => response.writeHead(200).write('x'))
    const { testServer, upstream } = await open('contents', LOOPBACK)
    const { out, answer } = testServer.send('/v1/messages', asking([`${pages.address}/slow`]), VERSION_HEADERS)
    answer.catch(() => {})
    await until(() => pages.seen.length === 1)
    const left = Date.now()
    out.destroy()
    await until(() => pages.seen[0]!.brokenAt !== undefined)
    expect(pages.seen[0]!.brokenAt! - left).toBeLessThan(1000)
    await until(() => testServer.lines.some(({ fields }) => fields['status'] === 499))
    expect(upstream.seen).toEqual([])
  })
})

describe('what is at an address', () => {
  const fetcher = (): MediaFetcher => {
    const made = new MediaFetcher({ size: 1000, timeout: 1000, allow: LOOPBACK })
    closing.push(() => made.close())
    return made
  }
  const claiming = (type: string, text: string) =>
    serving(response => response.writeHead(200, { 'content-type': type }).end(text))

  test.each([
    ['image', 'image/png', '<!doctype html><p>Hello.'],
    ['image', 'image/png', '{"error":"no"}'],
    ['image', 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['image', 'image/png', '%PDF-1.7'],
    ['audio', 'audio/mpeg', '\ufeff \n<html>'],
    ['video', 'video/mp4', '<html>'],
  ] as const)('is no %s where it says %s but is %s', async (kind, type, text) => {
    const pages = await claiming(type, text)
    await expect(fetcher().fetch(pages.address, kind)).rejects.toMatchObject({ error: { kind: 'invalid-request' } })
  })

  test.each([
    ['image', 'text/html', 'GIF89a', 'image/gif'],
    ['image', 'image/png', 'II*\0', 'image/tiff'],
    ['audio', 'audio/amr', '#!AMR', 'audio/amr'],
    ['file', 'text/html', '<html>', 'text/html'],
  ] as const)('is %s where it says %s and is %s', async (kind, type, text, mediaType) => {
    const pages = await claiming(type, text)
    expect((await fetcher().fetch(pages.address, kind)).mediaType).toBe(mediaType)
  })
})

const INSIDE = [
  ...['http://127.0.0.1/a.png', 'http://localhost:8080/', 'http://[::1]/', 'http://2130706433/', 'http://0x7f.1/a'],
  ...['http://169.254.169.254/latest/meta-data/', 'http://168.63.129.16/', 'http://10.0.0.7/', 'http://[fd00::1]/a'],
  ...['http://metadata.google.internal/', 'http://printer.local/', 'http://intranet/', 'http://localhost./'],
  ...['http://router.home.arpa/', 'http://router.home.arpa./', 'http://[::10.0.0.1]/'],
  ...['file:///etc/passwd', ' FILE:/etc/passwd', 'fi\nle:///etc/passwd', 'gopher://1.1.1.1/', 'ftp://1.1.1.1/a'],
  ...['/etc/passwd', '../secret', '~/.ssh/id', '//10.0.0.1/a', '\\\\host\\share', 'c:\\windows', 'http://'],
  ...['http://1.1.1.1\\@10.0.0.1/', 'http://1.1.1.1 @10.0.0.1/', 'http://user@127.0.0.1/'],
]

describe('addresses that go upstream as they are', () => {
  test.each(INSIDE)('are no such as %j', async url => {
    for (const [path, body] of [
      ['/v1/messages', asking([url])],
      [
        '/v1/chat/completions',
        { model: 'm', messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] },
      ],
    ] as const) {
      const { testServer, upstream } = await open('chat')
      expect((await testServer.ask(path, body, VERSION_HEADERS)).status).toBe(400)
      expect(upstream.seen).toEqual([])
    }
  })

  test.each([
    ...[
      'https://example.com/a.png',
      'http://8.8.8.8/a.png',
      'gs://bucket/a.png',
      'data:image/png,abc',
      'https://example.com/a b.png?c=d\\e',
    ],
    ...['files/abc', `/9j/${'A'.repeat(8000)}`],
  ])('may be %.40s', async url => {
    const { testServer, upstream } = await open('chat')
    expect((await testServer.ask('/v1/messages', asking([url]), VERSION_HEADERS)).status).toBe(200)
    expect(upstream.seen[0]!.text).toContain(JSON.stringify(url))
  })

  test('may be any where the channel says so, and those that are fetched from anyway', async () => {
    const url = 'http://127.0.0.1/a.png'
    const any = await open('chat', undefined, { anyAddress: true })
    expect((await any.testServer.ask('/v1/messages', asking([url, 'http://intranet/']), VERSION_HEADERS)).status).toBe(
      200,
    )
    const allowed = await open('chat', LOOPBACK)
    expect((await allowed.testServer.ask('/v1/messages', asking([url]), VERSION_HEADERS)).status).toBe(200)
    expect((await allowed.testServer.ask('/v1/messages', asking(['http://10.0.0.1/']), VERSION_HEADERS)).status).toBe(
      400,
    )
  })

  test('are looked up where the upstream is in the same network and would look them up, too', async () => {
    const looked: string[] = []
    const media = new Media({ fetch: true, limit: 1, count: 1, total: 1, timeout: 1, allow: [] }, async name => {
      looked.push(name)
      return name === 'nowhere.example' ? [] : [{ address: name === 'inside.example' ? '10.0.0.1' : '8.8.8.8' }]
    })
    closing.push(() => media.close())
    const at = (baseUrl: string, url: string) => {
      const channel = channelAt('http://127.0.0.1:1')
      const format = { ...channel.formats[0]!, baseUrl }
      const target: Target = {
        channel,
        format,
        native: true,
        emulated: false,
        upstreamModel: 'm',
        resting: false,
      }
      const content = [{ type: 'media', kind: 'image', source: { type: 'url', url } }] as const
      const request = { model: 'm', messages: [{ role: 'user', content }], output: {}, sampling: {}, stream: false }
      expect(media.concerns(request as never, target)).toBe('check')
      return media.prepared(request as never, target, { reply: { gone: false, abortable: undefined } } as never)
    }
    for (const testServer of [
      'http://127.0.0.1:9000/v1',
      'http://vllm:8000',
      'http://10.1.2.3',
      'http://gpu.local/v1',
    ]) {
      await expect(at(testServer, 'http://inside.example/')).rejects.toMatchObject({
        error: { kind: 'invalid-request' },
      })
      await expect(at(testServer, 'http://nowhere.example/')).rejects.toMatchObject({
        error: { kind: 'invalid-request' },
      })
      await at(testServer, 'http://outside.example/')
    }
    expect(looked).toHaveLength(12)
    await at('https://api.example.com/v1', 'http://inside.example/')
    expect(looked).toHaveLength(12)
  })

  test('of buckets and of bytes have no host', () => {
    const guard = new AddressGuard([], () => Promise.reject(new Error('is not asked')))
    expect(guard.check('s3://bucket/a.png')).toBeUndefined()
    expect(guard.check('https://example.com/')).toBe('example.com')
  })
})

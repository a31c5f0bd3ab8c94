import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { GatewayError } from '../../../src/canonical/error.ts'
import type { ChannelConfig } from '../../../src/config/index.ts'
import { environmentProxy, namedProxy } from '../../../src/config/proxy.ts'
import { readConfig } from '../../../src/config/read.ts'
import { openTracer } from '../../../src/gateway/metrics/otlp.ts'
import { Provider } from '../../../src/operators/sign-in/oidc.ts'
import type { UsageRow } from '../../../src/store/usage/row.ts'
import { MediaFetcher } from '../../../src/upstreams/channel/fetch.ts'
import { Channel, connectionDetail, NotSent } from '../../../src/upstreams/channel/index.ts'
import { proxyFor } from '../../../src/upstreams/channel/proxy-for.ts'
import { dial } from '../../../src/voice/dial.ts'
import { Certificates, hasOpenssl } from '../../builders/certificate.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { channelAt, LOOPBACK } from '../../builders/config.ts'
import { deadAddress } from '../../builders/upstream.ts'

const closing = closingAfterEach()
const WIRE = { path: '/chat/completions', query: {}, headers: {}, body: { model: 'm' } }

interface Listening {
  readonly address: string
  /** First lines of requests, with the credential for the proxy. */
  readonly seen: { readonly line: string; readonly credential: string | undefined }[]
}

async function listen(server: ReturnType<typeof createServer>, scheme = 'http'): Promise<string> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.close()
    server.closeAllConnections()
  })
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A proxy that connects everything to one port of the loopback, whatever host is asked for. */
async function openProxy(target: string): Promise<Listening> {
  const { port } = new URL(target)
  const seen: Listening['seen'] = []
  const note = ({ method, url, headers }: IncomingMessage) =>
    seen.push({ line: `${method} ${url}`, credential: headers['proxy-authorization'] })
  const server = createServer((request, response) => {
    note(request)
    request.resume().on('end', () => response.end('{"forwarded":true}'))
  })
  server.on('connect', (request, socket) => {
    note(request)
    const tunnel = connect(Number(port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      socket.pipe(tunnel).pipe(socket)
    })
    for (const one of [socket, tunnel]) one.on('error', () => [socket, tunnel].map(other => other.destroy()))
  })
  return { address: await listen(server), seen }
}

const answers = (request: IncomingMessage, response: ServerResponse) =>
  request.resume().on('end', () => response.end('{"direct":true}'))

function channel(address: string, fields: Partial<ChannelConfig>): Channel {
  const made = new Channel(channelAt(address, fields))
  closing.push(() => made.destroy())
  return made
}

const asked = async (one: Channel, single = false): Promise<string> =>
  (await one.send({ format: one.config.formats[0]!, wire: WIRE, from: {}, single }).answer).text(1000)

const through = (address: string) => ({ proxy: namedProxy(address)! })

describe('a channel behind a proxy', () => {
  test('sends requests of http upstreams to the proxy, with its credential', async () => {
    const proxy = await openProxy(await listen(createServer(answers)))
    const address = proxy.address.replace('http://', 'http://user:p%40ss@')
    const made = channel('http://upstream.example', through(address))
    expect(JSON.parse(await asked(made))).toEqual({ forwarded: true })
    expect(JSON.parse(await asked(made, true))).toEqual({ forwarded: true })
    const credential = `Basic ${Buffer.from('user:p@ss').toString('base64')}`
    const line = 'POST http://upstream.example/v1/chat/completions'
    expect(proxy.seen).toEqual([
      { line, credential },
      { line, credential },
    ])
  })

  test.runIf(hasOpenssl)(
    'reaches https upstreams by a tunnel, with its own authority and a client certificate',
    async () => {
      const certificates = new Certificates()
      closing.push(() => certificates.close())
      const own = certificates.make('upstream', 'DNS:upstream.example')
      const client = certificates.make('client')
      const peers: string[] = []
      const server = createTlsServer(
        { cert: own.pem, key: readFileSync(own.key), ca: client.pem, requestCert: true },
        (request, response) => {
          peers.push((request.socket as unknown as { authorized: boolean }).authorized ? 'known' : 'unknown')
          answers(request, response)
        },
      )
      const proxy = await openProxy(await listen(server as never, 'https'))
      const tls = { ca: own.pem, cert: client.pem, key: readFileSync(client.key, 'utf8') }
      const made = channel('https://upstream.example', { ...through(proxy.address), tls })
      expect(JSON.parse(await asked(made))).toEqual({ direct: true })
      // The connection is free a moment after the answer's end.
      await setTimeout(20)
      expect(JSON.parse(await asked(made))).toEqual({ direct: true })
      expect(JSON.parse(await asked(made, true))).toEqual({ direct: true })
      expect(peers).toEqual(['known', 'known', 'known'])
      const tunnel = { line: 'CONNECT upstream.example:443', credential: undefined }
      expect(proxy.seen).toEqual([tunnel, tunnel])
      const stranger = channel('https://upstream.example', through(proxy.address))
      await expect(asked(stranger)).rejects.toThrow('The upstream could not be reached.')
    },
  )

  test('reports a dead proxy and one that refuses, without its address', async () => {
    const dead = channel('https://upstream.example', through(await deadAddress()))
    await expect(asked(dead)).rejects.toThrow('The upstream could not be reached.')
    const refusing = createServer()
    refusing.on('connect', (_, socket) => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'))
    const refused = channel('https://upstream.example', through(await listen(refusing)))
    const thrown = await asked(refused).catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(GatewayError)
    expect((thrown as GatewayError).error).toEqual({
      kind: 'unreachable',
      reason: 'reset',
      message: 'The upstream could not be reached.',
    })
    expect(connectionDetail((thrown as GatewayError).cause)).toBe('the proxy answered 407')
    const plain = await listen(createServer((_, response) => response.writeHead(407).end('Who?')))
    const unknown = await asked(channel('http://upstream.example', through(plain))).catch((error: unknown) => error)
    expect(connectionDetail((unknown as GatewayError).cause)).toBe('the proxy answered 407')
  })

  test('gives up a proxy that never opens a tunnel when the time to connect is over', async () => {
    const silent = createServer()
    silent.on('connect', () => {})
    const timeout = { connect: 100, firstByte: 60_000, idle: 60_000 }
    const made = channel('https://upstream.example', { ...through(await listen(silent)), timeout })
    const thrown = await asked(made).catch((error: unknown) => error)
    expect((thrown as GatewayError).error).toMatchObject({ kind: 'timed-out', reason: 'connect-timeout' })
    expect(thrown).toBeInstanceOf(NotSent)
  })

  test('connects directly to excluded hosts, and to this machine', async () => {
    const upstream = await listen(createServer(answers))
    const proxy = await openProxy(upstream)
    const env = { HTTP_PROXY: proxy.address, NO_PROXY: 'other.example' }
    const made = channel(upstream, { proxy: environmentProxy(env, () => {})! })
    expect(JSON.parse(await asked(made))).toEqual({ direct: true })
    expect(proxy.seen).toEqual([])
  })
})

describe('the choice of a proxy', () => {
  const PROXY = { http: 'http://a', https: 'http://b' }
  const isDirect = (except: string, address: string) => proxyFor(address, { ...PROXY, except }) === undefined

  test.each([
    ['example.com', 'http://api.example.com', true],
    ['Example.COM', 'https://api.example.com.', true],
    ['example.com.', 'https://example.com', true],
    ['example.com', 'https://badexample.com', false],
    ['.example.com', 'https://example.com', true],
    ['*.example.com', 'https://api.example.com', true],
    ['*.example.com', 'https://example.com', false],
    ['a.com b.com', 'https://b.com', true],
    ['a.com, b.com:443', 'https://b.com', true],
    ['b.com:80', 'https://b.com', false],
    ['10.0.0.0/8,.svc', 'http://10.1.2.3:8000', true],
    ['10.0.0.0/8', 'http://[::ffff:10.1.2.3]', true],
    ['10.0.0.0/8', 'http://11.1.2.3', false],
    ['10.1.2.3:8000', 'http://10.1.2.3:8000', true],
    ['fd00::/8', 'http://[fd12::1]', true],
    ['[::1]', 'http://[::1]:8080', true],
    ['[::1]:8080', 'http://[::1]:8080', true],
    ['::1', 'http://[::1]', true],
    ['1', 'http://10.0.0.1', false],
    ['*', 'https://any.example', true],
    ['', 'https://any.example', false],
  ])('NO_PROXY=%s and %s', (except, address, expected) => expect(isDirect(except, address)).toBe(expected))

  test('depends on the scheme, and https has none where only HTTP_PROXY is set', () => {
    expect(proxyFor('http://x', { ...PROXY, except: '' })).toBe('http://a')
    expect(proxyFor('https://x', { ...PROXY, except: '' })).toBe('http://b')
    expect(proxyFor('https://x', { http: 'http://a', https: '', except: '' })).toBeUndefined()
  })

  test('is the same for requests, sockets and media', async () => {
    const upstream = await listen(createServer(answers))
    const { port } = new URL(upstream)
    const proxy = await openProxy(upstream)
    const env = { http_proxy: proxy.address, NO_PROXY: '127.0.0.0/8' }
    const chosen = environmentProxy(env, () => {})!
    const made = channel(`http://127.0.0.2:${port}`, { proxy: chosen })
    await expect(asked(made)).rejects.toThrow()
    const media = new MediaFetcher({ size: 1000, timeout: 1000, allow: LOOPBACK, proxy: chosen })
    closing.push(() => media.close())
    await expect(media.load(`http://127.0.0.2:${port}`)).rejects.toThrow()
    const options = { headers: {}, timeout: 500, maxPayload: 10, heartbeat: 1000, signal: AbortSignal.timeout(1000) }
    await expect(dial({ ...options, url: `http://127.0.0.2:${port}`, proxy: chosen })).rejects.toThrow()
    expect(proxy.seen).toEqual([])
  })
})

describe('proxies of the environment', () => {
  const LOCAL = 'localhost,127.0.0.1,[::1]'
  test.each([
    [
      'both',
      { HTTPS_PROXY: 'http://a', HTTP_PROXY: 'http://b', NO_PROXY: 'x' },
      ['http://b', 'http://a', `x,${LOCAL}`],
    ],
    ['lower case first', { https_proxy: 'http://l', HTTPS_PROXY: 'http://u' }, ['', 'http://l', LOCAL]],
    ['without a scheme', { HTTPS_PROXY: 'proxy:3128' }, ['', 'http://proxy:3128', LOCAL]],
    ['a password with % as itself', { HTTPS_PROXY: 'http://u:5%s%40@p' }, ['', 'http://u:5%25s%40@p', LOCAL]],
    ['none', { NO_PROXY: 'x', HTTPS_PROXY: '' }, undefined],
  ])('%s', (_, env, expected) => {
    const found = environmentProxy(env, (_path, message) => expect.unreachable(message))
    expect(found && [found.http, found.https, found.except]).toEqual(expected)
  })

  test.each(['socks5://user:secret@proxy', 'http://', 'ftp://proxy', 'http://user:secret%ff@proxy'])(
    '%s is reported',
    value => {
      const faults: string[] = []
      expect(
        environmentProxy({ HTTPS_PROXY: value }, (path, message) => faults.push(`${path}: ${message}`)),
      ).toBeUndefined()
      expect(faults).toEqual([expect.stringMatching(/^proxy: the variable HTTPS_PROXY is not/)])
      expect(faults[0]).not.toContain('secret')
    },
  )
})

describe('media behind a proxy', () => {
  const fetcher = (address: string, allow: readonly string[] = []): MediaFetcher => {
    const made = new MediaFetcher({ size: 1000, timeout: 1000, allow, ...through(address) })
    closing.push(() => made.close())
    return made
  }

  test('is fetched by the name that the caller gave, which is not resolved here', async () => {
    const proxy = await openProxy(await listen(createServer(answers)))
    const { bytes } = await fetcher(proxy.address).load('http://media.invalid/a.png')
    expect(bytes.toString()).toBe('{"forwarded":true}')
    expect(proxy.seen.map(({ line }) => line)).toEqual(['GET http://media.invalid/a.png'])
  })

  test.each([
    'http://127.0.0.1/a',
    'http://169.254.169.254/a',
    'http://[::1]/a',
    'http://localhost/a',
    'http://metadata.google.internal/a',
  ])('%s is refused', async address => {
    const proxy = await openProxy(await listen(createServer(answers)))
    await expect(fetcher(proxy.address).load(address)).rejects.toThrow(GatewayError)
    expect(proxy.seen).toEqual([])
  })

  test('of an allowed address is fetched', async () => {
    const proxy = await openProxy(await listen(createServer(answers)))
    await fetcher(proxy.address, LOOPBACK).load('http://127.0.0.1/a')
    expect(proxy.seen).toHaveLength(1)
  })
})

describe('other connections behind a proxy', () => {
  test.runIf(hasOpenssl)(
    'WebSockets are tunnelled, with the authority and client certificate of their channel',
    async () => {
      const certificates = new Certificates()
      closing.push(() => certificates.close())
      const own = certificates.make('upstream', 'DNS:upstream.example')
      const client = certificates.make('client')
      const server = createTlsServer({
        ...{ cert: own.pem, key: readFileSync(own.key), ca: client.pem },
        ...{ requestCert: true, rejectUnauthorized: true },
      })
      const sockets = new WebSocketServer({ server })
      sockets.on('connection', socket => socket.send('hello'))
      const proxy = await openProxy(await listen(server as never, 'https'))
      const options = {
        ...{
          url: 'https://upstream.example/v1/realtime',
          headers: {},
          timeout: 2000,
          maxPayload: 1000,
          heartbeat: 1000,
        },
        signal: AbortSignal.timeout(5000),
      }
      const tls = { ca: own.pem, cert: client.pem, key: readFileSync(client.key, 'utf8') }
      const socket = await dial({ ...options, ...through(proxy.address), tls })
      socket.close(1000, '')
      expect(proxy.seen.map(({ line }) => line)).toEqual(['CONNECT upstream.example:443'])
      await expect(dial({ ...options, ...through(proxy.address) })).rejects.toThrow(GatewayError)
      const direct = { http: '', https: proxy.address, except: 'upstream.example' }
      await expect(dial({ ...options, proxy: direct, tls })).rejects.toThrow(GatewayError)
      expect(proxy.seen).toHaveLength(2)
    },
  )

  test('traces are sent to their collector through it', async () => {
    const proxy = await openProxy(await listen(createServer(answers)))
    const faults: unknown[] = []
    const otlp = 'http://collector.example/v1/traces'
    const tracer = openTracer({ otlp, headers: {}, sample: 1, ...through(proxy.address) }, fault => faults.push(fault))
    const row = { attempts: 0, status: 200 } as UsageRow
    tracer.begin({ path: '/v1/models', format: 'chat', headers: {} }).end(row)
    await tracer.close()
    expect(proxy.seen.map(({ line }) => line)).toEqual([`POST ${otlp}`])
    expect(faults).toEqual([])
  })

  test('the provider of a sign-in is reached through it', async () => {
    const proxy = await openProxy(await listen(createServer(answers)))
    const config = `console: { oidc: { issuer: "https://issuer.example", client_id: a, client_secret: b, roles: { admin: [x] } } }`
    const { console } = readConfig(`proxy: "${proxy.address}"\nchannels: []\n${config}`, {})
    await expect(new Provider(console!.oidc!).start('http://127.0.0.1/back')).rejects.toThrow()
    expect(proxy.seen.map(({ line }) => line)).toEqual(['CONNECT issuer.example:443'])
  })

  test('are configured by the environment, and by `none` connect directly', () => {
    const yaml = 'traces: { otlp: "http://collector.example" }\nchannels: []'
    const env = { HTTP_PROXY: 'http://proxy.example', NO_PROXY: 'inner.example' }
    expect(readConfig(yaml, env).traces!.proxy).toMatchObject({ http: 'http://proxy.example' })
    expect(readConfig(`proxy: none\n${yaml}`, env).traces!.proxy).toBeUndefined()
  })
})

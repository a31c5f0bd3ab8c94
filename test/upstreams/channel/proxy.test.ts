import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../../src/canonical/error.ts'
import type { ChannelConfig } from '../../../src/config/index.ts'
import { environmentProxy, namedProxy } from '../../../src/config/proxy.ts'
import { MediaFetcher } from '../../../src/upstreams/channel/fetch.ts'
import { Channel } from '../../../src/upstreams/channel/index.ts'
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
    ['none', { NO_PROXY: 'x', HTTPS_PROXY: '' }, undefined],
  ])('%s', (_, env, expected) => {
    const found = environmentProxy(env, (_path, message) => expect.unreachable(message))
    expect(found && [found.http, found.https, found.except]).toEqual(expected)
  })

  test.each(['socks5://user:secret@proxy', 'http://', 'ftp://proxy'])('%s is reported', value => {
    const faults: string[] = []
    expect(
      environmentProxy({ HTTPS_PROXY: value }, (path, message) => faults.push(`${path}: ${message}`)),
    ).toBeUndefined()
    expect(faults).toEqual([expect.stringMatching(/^proxy: the variable HTTPS_PROXY is not/)])
    expect(faults[0]).not.toContain('secret')
  })
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

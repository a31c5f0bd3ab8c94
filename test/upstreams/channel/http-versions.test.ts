import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createSecureServer } from 'node:http2'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { describe, expect, test } from 'vitest'
import { namedProxy } from '../../../src/config/proxy.ts'
import { Downloads } from '../../../src/upstreams/channel/download.ts'
import { MediaFetcher } from '../../../src/upstreams/channel/fetch.ts'
import { Channel } from '../../../src/upstreams/channel/index.ts'
import { requestToken } from '../../../src/upstreams/credentials/token-request.ts'
import { Certificates, hasOpenssl } from '../../builders/certificate.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { channelAt, LOOPBACK } from '../../builders/config.ts'

/* Upstreams that would choose HTTP/2, in which running requests share a connection. */

const closing = closingAfterEach()

/** A server that the test listens to, closed with its connections. */
function listening(server: ReturnType<typeof createServer>): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', socket => sockets.add(socket.on('error', () => {})))
  closing.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))
}

function certificate() {
  const certificates = new Certificates()
  closing.push(() => certificates.close())
  const { pem, key } = certificates.make('upstream')
  return { cert: pem, key: readFileSync(key, 'utf8') }
}

const WIRE = { path: '/chat/completions', query: {}, headers: {}, body: { model: 'm' } }

function channel(port: number, ca: string, fields: Parameters<typeof channelAt>[1] = {}) {
  const timeout = { connect: 5000, firstByte: 500, idle: 500 }
  const made = new Channel(channelAt(`https://127.0.0.1:${port}`, { tls: { ca }, timeout, ...fields }))
  closing.push(() => made.destroy())
  return (single = false) =>
    made.send({ format: made.config.formats[0]!, wire: WIRE, from: {}, single }).answer.then(one => one.text(1000))
}

describe.runIf(hasOpenssl)('a server that prefers HTTP/2', () => {
  const mediaLimits = { size: 1000, timeout: 5000, allow: LOOPBACK }
  test.each<[name: string, ask: (port: number, ca: string) => Promise<unknown>]>([
    ['a channel', (port, ca) => channel(port, ca)()],
    ['a request that is sent once', (port, ca) => channel(port, ca)(true)],
    [
      'a channel behind a proxy',
      async (port, ca) => {
        const proxy = await listening(
          createServer(caller => {
            const upstream = connect(port, '127.0.0.1').on('error', () => caller.destroy())
            caller.once('data', () => {
              caller.write('HTTP/1.1 200 Fine\r\n\r\n')
              caller.pipe(upstream).pipe(caller)
            })
          }),
        )
        return channel(port, ca, { proxy: namedProxy(`http://127.0.0.1:${proxy}`)! })()
      },
    ],
    ['media', port => new MediaFetcher(mediaLimits).load(`https://127.0.0.1:${port}/a.png`)],
    ['a download', port => new Downloads(LOOPBACK).get(`https://127.0.0.1:${port}/a.mp4`, {}, true).answer],
    ['a token', port => requestToken({ url: `https://127.0.0.1:${port}/token`, server: 'The server' })],
  ])('is offered HTTP/1.1 only by %s', async (_, ask) => {
    const offered: string[][] = []
    const { cert, key } = certificate()
    const ALPNCallback = ({ protocols }: { readonly protocols: string[] }): string => {
      offered.push(protocols)
      return 'http/1.1'
    }
    const port = await listening(createTlsServer({ cert, key, ALPNCallback }, socket => socket.end('No HTTP.')))
    await ask(port, cert).catch(() => {})
    expect(offered.flat()).toEqual(['http/1.1'])
  })

  test('loses the requests of a connection that falls silent, and no later ones', async () => {
    const { cert, key } = certificate()
    let isSilent = true
    const server = createSecureServer({ cert, key, allowHTTP1: true }, (request, response) =>
      request.resume().on('end', () => isSilent || response.end('{}')),
    )
    const target = await listening(server as never)
    const pairs: [Socket, Socket][] = []
    const network = await listening(
      createServer(caller => {
        const upstream = connect(target, '127.0.0.1').on('error', () => caller.destroy())
        pairs.push([caller, upstream])
        caller.pipe(upstream).pipe(caller)
      }),
    )
    const ask = channel(network, cert)
    const lost = ask()
    lost.catch(() => {})
    await once(server, 'request')
    isSilent = false
    for (const [caller, upstream] of pairs) {
      caller.unpipe(upstream)
      upstream.unpipe(caller)
      caller.pause()
    }
    // Each request begins while another runs, so that the connection is never idle.
    for (let count = 0; count < 5; count++) {
      const [one, other] = [ask(), ask()]
      expect(await one).toBe('{}')
      expect(await other).toBe('{}')
    }
    await expect(lost).rejects.toThrow('did not begin to answer')
  })
})

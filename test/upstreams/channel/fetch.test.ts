import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MediaFetcher } from '../../../src/upstreams/channel/fetch.ts'
import { guardedLookup, isReachable } from '../../../src/upstreams/channel/reachable.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { LOOPBACK } from '../../builders/config.ts'

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const closing = closingAfterEach()

async function serve(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function fetcher(allow: readonly string[] = LOOPBACK, size = 1000): MediaFetcher {
  const made = new MediaFetcher({ size, timeout: 500, allow })
  closing.push(() => made.close())
  return made
}

const png: RequestListener = (_, response) => response.writeHead(200, { 'content-type': 'image/png' }).end(PNG)

describe('which addresses are reachable', () => {
  test.each([
    ...['127.0.0.1', '10.1.2.3', '172.16.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '0.0.0.0'],
    ...['::1', '::', 'fe80::1', 'fc00::1', 'fd00:ec2::254', '::ffff:127.0.0.1', '::ffff:7f00:1', '64:ff9b::7f00:1'],
    ...['168.63.129.16', '::ffff:168.63.129.16', '100.100.100.200', '192.0.0.192'],
    ...['224.0.0.1', '255.255.255.255', '2002:7f00:1::', 'nonsense', ''],
    ...['::127.0.0.1', '::a9fe:a9fe'],
  ])('%s is not', address => expect(isReachable(address)).toBe(false))

  test.each(['8.8.8.8', '1.1.1.1', '2606:4700::1111'])('%s is', address => expect(isReachable(address)).toBe(true))

  test('nothing outside the public ranges is, in whatever way it is written', () => {
    fc.assert(
      fc.property(fc.ipV4(), address => {
        const [a = 0, b = 0] = address.split('.').map(Number)
        const isPrivate = a === 10 || a === 127 || a === 0 || (a === 192 && b === 168) || (a === 169 && b === 254)
        if (isPrivate) {
          expect(isReachable(address)).toBe(false)
          expect(isReachable(`::ffff:${address}`)).toBe(false)
        }
      }),
    )
  })

  test('what is allowed by range is', () => {
    expect(isReachable('10.2.3.4', ['10.0.0.0/8'])).toBe(true)
    expect(isReachable('11.0.0.1', ['10.0.0.0/8'])).toBe(true)
    expect(isReachable('10.2.3.4', ['10.2.3.5'])).toBe(false)
    expect(isReachable('fd00::1', ['10.0.0.0/8', 'fd00::/16'])).toBe(true)
  })
})

describe('name resolution', () => {
  const answering = (addresses: readonly string[]) =>
    ((_: string, __: object, done: (fault: null, found: object[]) => void) =>
      done(
        null,
        addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 })),
      )) as never

  const look = (addresses: readonly string[]): Promise<unknown> =>
    new Promise(resolve =>
      guardedLookup([], answering(addresses))('name.example', { all: false }, (fault, address) =>
        resolve(fault ?? address),
      ),
    )

  test('gives the address it looked at', async () => expect(await look(['8.8.8.8'])).toBe('8.8.8.8'))
  test('gives none where one of several is private: a name may not mean two things', async () =>
    expect(await look(['8.8.8.8', '127.0.0.1'])).toMatchObject({ name: 'Unreachable' }))
  test('gives none for a private one', async () =>
    expect(await look(['169.254.169.254'])).toMatchObject({ name: 'Unreachable' }))
})

describe('fetching', () => {
  const refused = { error: { kind: 'invalid-request', code: 'media_not_fetched' } }

  test('brings the bytes and what they are, whatever is claimed', async () => {
    const at = await serve((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(PNG))
    expect(await fetcher().fetch(`${at}/a`, 'image')).toEqual({ mediaType: 'image/png', bytes: PNG })
  })

  test('does not go to the loopback, by address, by name, or by a redirect from elsewhere', async () => {
    const at = await serve(png)
    const port = new URL(at).port
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '2130706433', '0x7f.1', '127.1'])
      await expect(fetcher([]).fetch(`http://${host}:${port}/`, 'image')).rejects.toMatchObject(refused)
    const away = await serve((_, response) =>
      response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end(),
    )
    await expect(fetcher().fetch(away, 'image')).rejects.toMatchObject(refused)
  })

  test.each(['file:///etc/passwd', 'ftp://8.8.8.8/a', 'data:text/plain,a', 'gopher://8.8.8.8', 'no url'])(
    'refuses %s',
    url => expect(fetcher().fetch(url, 'file')).rejects.toMatchObject(refused),
  )

  test('decodes what is stored compressed, however the request is accepted, within the limit', async () => {
    const stored = (encoding: string, bytes: Buffer) =>
      serve((_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(bytes))
    for (const [encoding, encode] of [
      ['gzip', gzipSync],
      ['Deflate', deflateSync],
      ['br', brotliCompressSync],
      ['zstd', zstdCompressSync],
    ] as const)
      expect((await fetcher().fetch(await stored(encoding, encode(PNG)), 'image')).bytes).toEqual(PNG)
    expect((await fetcher().fetch(await stored('identity', PNG), 'image')).bytes).toEqual(PNG)
    for (const [encoding, bytes] of [
      ['gzip', PNG],
      ['exotic', PNG],
    ] as const)
      await expect(fetcher().fetch(await stored(encoding, bytes), 'file')).rejects.toMatchObject(refused)
    const bomb = await stored('gzip', gzipSync(Buffer.alloc(100_000)))
    await expect(fetcher().fetch(bomb, 'file')).rejects.toMatchObject({ error: { kind: 'too-large' } })
  })

  test('follows three redirects, not four', async () => {
    const at: string = await serve((request, response) => {
      const left = Number(request.url!.slice(1))
      if (left === 0) png(request, response)
      else response.writeHead(307, { location: `/${left - 1}` }).end()
    })
    expect((await fetcher().fetch(`${at}/3`, 'image')).mediaType).toBe('image/png')
    await expect(fetcher().fetch(`${at}/4`, 'image')).rejects.toMatchObject(refused)
  })

  test('takes no more than the limit, announced or not, and waits no longer than the time', async () => {
    const announced = await serve((_, response) => response.writeHead(200, { 'content-length': '2000' }).write('x'))
    await expect(fetcher().fetch(announced, 'file')).rejects.toMatchObject({ error: { kind: 'too-large' } })
    const endless = await serve((_, response) => {
      response.writeHead(200)
      const timer = setInterval(() => response.write(Buffer.alloc(400)), 5)
      response.on('close', () => clearInterval(timer))
    })
    await expect(fetcher().fetch(endless, 'file')).rejects.toMatchObject({ error: { kind: 'too-large' } })
    const silent = await serve(() => {})
    await expect(fetcher().fetch(silent, 'file')).rejects.toMatchObject(refused)
  })

  test('refuses what is of another kind, or is not there, and says no address of ours', async () => {
    const page = await serve((_, response) =>
      response.writeHead(200, { 'content-type': 'image/png' }).end('%PDF-1.7 …'),
    )
    await expect(fetcher().fetch(page, 'image')).rejects.toMatchObject(refused)
    const gone = await serve((_, response) => response.writeHead(404).end())
    await expect(fetcher().fetch(gone, 'file')).rejects.toMatchObject(refused)
    const told = await fetcher([])
      .fetch('http://127.0.0.1:1/', 'file')
      .catch((thrown: Error) => thrown.message)
    expect(told).toBe('Media is not fetched from this address.')
  })
})

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Config } from '../../src/config/index.ts'
import { ConsoleFiles } from '../../src/server/console.ts'
import type { TestServerOptions } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'

const gateways = opener()

const INDEX = `<!doctype html><title>Console</title>${' '.repeat(500)}`
const SCRIPT = 'console.log(1)\n'.repeat(100)
const SECURITY = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

let folder: string
let files: ConsoleFiles
let server: Server

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'console-'))
  files = new ConsoleFiles(folder)
  server = createServer((message, response) => files.answer(message, response, message.url!.split('?')[0]!))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
})

afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

const ask = (path: string, headers: { readonly [name: string]: string } = {}, method = 'GET'): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { port } = server.address() as AddressInfo
    const out = request({ host: '127.0.0.1', port, path, method, headers, agent: false })
    out.on('error', reject).on('response', answer => {
      const pieces: Buffer[] = []
      answer.on('data', piece => pieces.push(piece))
      answer.on('end', () =>
        resolve({ status: answer.statusCode!, headers: answer.headers, body: Buffer.concat(pieces) }),
      )
    })
    out.end()
  })

test('without a build, the command that makes one is named, and a build made later is found', async () => {
  const before = await ask('/console/')
  expect(before).toMatchObject({ status: 503, headers: SECURITY })
  expect(before.body.toString()).toContain('npm run console:build')
  mkdirSync(join(folder, 'assets'))
  for (const [name, text] of [
    ['index.html', INDEX],
    ['assets/index-abc123.js', SCRIPT],
    ['icon.svg', '<svg/>'],
  ] as const) {
    writeFileSync(join(folder, name), text)
    writeFileSync(join(folder, `${name}.gz`), gzipSync(text))
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(text))
  }
  writeFileSync(join(folder, '.built'), 'a hash')
  expect(await ask('/console/')).toMatchObject({ status: 200, headers: SECURITY })
})

test('a gateway has it, unless its config has none', async () => {
  const { openGateway } = gateways
  const answerOf = async (options: TestServerOptions) => {
    const { status, headers } = await (await openGateway([], options)).ask('/console', undefined, { method: 'GET' })
    return { status, location: headers['location'] }
  }
  expect(await answerOf({})).toEqual({ status: 308, location: '/console/' })
  // The field replaces that of the default config.
  const none = { console: undefined } as unknown as Partial<Config>
  expect((await answerOf({ config: none })).status).toBe(404)
})

describe('files', () => {
  test('the address without a slash leads to the one with it', async () => {
    expect(await ask('/console')).toMatchObject({ status: 308, headers: { location: '/console/', ...SECURITY } })
  })

  test('every page is the index, which is never kept', async () => {
    for (const path of ['/console/', '/console/keys', '/console/traffic/abc?x=1.5']) {
      const { status, headers, body } = await ask(path)
      expect({ status, type: headers['content-type'], text: body.toString() }).toEqual({
        ...{ status: 200, type: 'text/html; charset=utf-8', text: INDEX },
      })
      expect(headers).toMatchObject({ 'cache-control': 'no-store', ...SECURITY })
    }
  })

  test('what is named after its content is kept for good, other files are asked for again', async () => {
    const script = await ask('/console/assets/index-abc123.js')
    expect(script).toMatchObject({
      ...{ status: 200, body: Buffer.from(SCRIPT) },
      headers: {
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=31536000, immutable',
      },
    })
    expect((await ask('/console/icon.svg')).headers['cache-control']).toBe('no-cache')
  })

  test.each([
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['GZIP;q=0.5, br;q=0', 'gzip'],
    ['br;q=0.0, gzip;q=0', undefined],
    ['deflate', undefined],
    ['', undefined],
  ])('of a browser that accepts %j, it is sent in %s', async (accepted, coding) => {
    const { headers, body } = await ask('/console/assets/index-abc123.js', { 'accept-encoding': accepted })
    expect(headers['content-encoding']).toBe(coding)
    expect(headers.vary).toBe('accept-encoding')
    const text = coding === 'br' ? brotliDecompressSync(body) : coding === 'gzip' ? gunzipSync(body) : body
    expect(text.toString()).toBe(SCRIPT)
  })

  test('what compression makes longer is sent as it is', async () => {
    expect(
      (await ask('/console/icon.svg', { 'accept-encoding': 'br, gzip' })).headers['content-encoding'],
    ).toBeUndefined()
  })

  test('who has it already is not sent it again', async () => {
    const { headers } = await ask('/console/icon.svg')
    expect(await ask('/console/icon.svg', { 'if-none-match': `"x", W/${headers.etag}` })).toMatchObject({
      ...{ status: 304, body: Buffer.alloc(0), headers: SECURITY },
    })
    expect((await ask('/console/icon.svg', { 'if-none-match': '"x"' })).status).toBe(200)
  })

  test('HEAD has the headers alone, other methods are refused', async () => {
    expect(await ask('/console/', {}, 'HEAD')).toMatchObject({
      ...{ status: 200, body: Buffer.alloc(0), headers: { 'content-length': String(INDEX.length) } },
    })
    expect(await ask('/console/', {}, 'POST')).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD', ...SECURITY },
    })
  })

  test.each([
    '/console/.built',
    '/console/assets/none.js',
    '/console/assets/none',
    '/console/../package.json',
    '/console/index.html.br',
    '/Console/',
  ])('nothing is at %s', async path => {
    expect(await ask(path)).toMatchObject({ status: 404, headers: SECURITY })
  })
})

import { createHash } from 'node:crypto'
import { readdirSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import busboy from 'busboy'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BufferedBytes } from '../../../src/canonical/bytes.ts'
import { multipart } from '../../../src/egress/transport/multipart.ts'
import { channelAt, KEY } from '../../builders/config.ts'
import { opener } from '../../builders/opener.ts'
import { TRANSCRIPTIONS_PATH } from '../../builders/paths.ts'
import { TIMED, until } from '../../builders/time.ts'
import { MIB } from '../../builders/units.ts'
import { json, type SeenForm, Stub } from '../../transcriptions/stub.ts'
import { upload } from '../../transcriptions/upload.ts'

/* Forms whose names, types and values try to be other parts, that cost time, and whose callers and upstreams leave. */

const { closing, openGateway } = opener()

async function open() {
  const stub = await Stub.open(json({ text: 'so it was said' }))
  closing.push(() => stub.close())
  const gateway = await openGateway([channelAt(stub.address, { format: 'transcriptions' })], {
    group: { concurrent: 4 },
  })
  return { stub, gateway }
}

const BOUNDARY = 'b'
const part = (head: string, value = 'x') => `--${BOUNDARY}\r\n${head}\r\n\r\n${value}\r\n`
const named = (name: string, more = '') => `content-disposition: form-data; name="${name}"${more}`
const MODEL = part(named('model'), 'm')
const FILE = part(`${named('file', '; filename="talk.mp3"')}\r\ncontent-type: audio/mpeg`, 'sound')

/** Sends the bytes of a form. */
async function post(address: string, body: string | Buffer): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${address}${TRANSCRIPTIONS_PATH}`, {
    ...{ method: 'POST', body: Buffer.from(body as string) },
    headers: { authorization: `Bearer ${KEY}`, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
  })
  return { status: answer.status, text: await answer.text() }
}

/** Parses an encoded form. */
async function parsed({ contentType, read }: ReturnType<typeof multipart>) {
  const parts: { name: string; value?: string; filename?: string | undefined; mimeType?: string }[] = []
  const parser = busboy({ headers: { 'content-type': contentType }, defParamCharset: 'utf8', preservePath: true })
  parser.on('field', (name, value) => parts.push({ name, value }))
  parser.on('file', (name, stream, { filename, mimeType }) => {
    stream.resume()
    parts.push({ name, filename, mimeType })
  })
  const done = new Promise((resolve, reject) => parser.on('close', resolve).on('error', reject))
  for await (const chunk of read()) parser.write(chunk)
  parser.end()
  await done
  return parts
}

/** A name as browsers write it. */
const escaped = (name: string) =>
  name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('\0', '%00')

const EVIL = [
  ...[
    'a"; name="model',
    'a\r\n\r\nevil\r\n--b\r\ncontent-disposition: form-data; name="model"',
    'a\r\ncontent-type: text/evil',
  ],
  ...[
    'a\\"; filename="evil',
    '../../etc/passwd',
    '..\\..\\evil',
    "a'; DROP",
    'a\u0000b',
    'a\u2028b',
    '😀\ud800',
    'a%22b',
    '--b--',
    'a\nb',
    'a\rb',
  ],
]

describe('a form that the gateway writes anew', () => {
  test.each(EVIL)('has the name %j as one name of one part', async evil => {
    const file = {
      field: evil,
      name: evil,
      mediaType: `audio/mpeg\r\nx-evil: 1\r\n\r\n${evil}`,
      bytes: new BufferedBytes(Buffer.from('sound')),
    }
    const parts = await parsed(multipart({ body: { [evil]: evil, model: 'm' }, files: [file] }))
    expect(parts.map(({ name, value }) => [name, value])).toEqual([
      [escaped(evil).toWellFormed(), evil.toWellFormed()],
      ['model', 'm'],
      [escaped(evil).toWellFormed(), undefined],
    ])
  })

  test('has as many parts as it was made of, whatever their names, types and values are', async () => {
    // Letters of a type are those of HTTP. Other bytes make a server refuse the part.
    const text = fc.oneof(fc.string({ unit: 'grapheme', minLength: 1 }), fc.constantFrom(...EVIL))
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(text, text, { minKeys: 1, maxKeys: 5 }),
        text,
        text,
        async (body, field, mediaType) => {
          const bytes = new BufferedBytes(Buffer.from('sound'))
          const late = async () => ({ body, files: [{ field, mediaType, bytes }] })
          const parts = await parsed(multipart({ body, files: [{ field, mediaType, bytes }] }, late))
          expect(parts).toHaveLength(2 * Object.keys(body).length + 2)
        },
      ),
      { numRuns: 200 },
    )
  })

  test.each<[string, string]>([
    ['a quote in a field', part('content-disposition: form-data; name="a\\"; name=\\"model"', 'other')],
    ['line ends in a field', part('content-disposition: form-data; name="a%0D%0A%0D%0Aevil"', 'other')],
    [
      'a quote in a file',
      part('content-disposition: form-data; name="file"; filename="a\\"; name=\\"model"\r\ncontent-type: audio/mpeg'),
    ],
    [
      'a path in a file',
      part('content-disposition: form-data; name="file"; filename="../../etc/passwd"\r\ncontent-type: audio/mpeg'),
    ],
    [
      'a file name of another charset',
      part(`content-disposition: form-data; name="file"; filename*=utf-8''%0d%0aevil%22\r\ncontent-type: audio/mpeg`),
    ],
    [
      'a type with parameters',
      part(
        'content-disposition: form-data; name="file"; filename="a"\r\ncontent-type: audio/mpeg; boundary=b; name="model"',
      ),
    ],
    [
      'a folded header',
      part('content-disposition: form-data; name="file"; filename="a"\r\ncontent-type: audio/mpeg\r\n x-evil: 1'),
    ],
    [
      'two dispositions',
      part(`${named('file', '; filename="a"')}\r\n${named('model')}\r\ncontent-type: audio/mpeg`, 'other'),
    ],
    [
      'the boundary in a value',
      part(named('prompt'), 'a\r\n--interlingua-0\r\ncontent-disposition: form-data; name="model"\r\n\r\nother'),
    ],
    ['a name that objects inherit', part(named('__proto__'), 'evil') + part(named('constructor'), 'evil')],
  ])('with %s reaches the upstream with the model that was allowed, and no header of its own', async (_, extra) => {
    const { stub, gateway } = await open()
    const { status } = await post(gateway.server.address, `${MODEL}${extra}${FILE}--${BOUNDARY}--\r\n`)
    for (const { fields, files, headers } of stub.seen) {
      expect(fields.filter(([name]) => name === 'model')).toEqual([['model', 'm']])
      expect(fields.map(([name]) => name)).not.toContain('evil')
      expect(headers['x-evil']).toBeUndefined()
      for (const { mediaType, name = '' } of files) expect(`${mediaType}${name}`).not.toMatch(/[\r\n]/)
    }
    expect(status === 200 ? stub.seen.length : status).toBe(status === 200 ? 1 : 400)
  })
})

describe('forms that cost time', () => {
  const SIZE = 8 * MIB
  test.each<[string, () => string | Buffer]>([
    [
      'nearly the boundary, again and again',
      () =>
        Buffer.concat([
          Buffer.from(`${MODEL}--b\r\n${named('file', '; filename="a"')}\r\n\r\n`),
          Buffer.alloc(SIZE, '\r\n--a'),
          Buffer.from('\r\n--b--\r\n'),
        ]),
    ],
    [
      'line ends',
      () =>
        Buffer.concat([
          Buffer.from(`${MODEL}--b\r\n${named('file', '; filename="a"')}\r\n\r\n`),
          Buffer.alloc(SIZE, '\r\n'),
          Buffer.from('\r\n--b--\r\n'),
        ]),
    ],
    [
      'a long preamble',
      () => Buffer.concat([Buffer.alloc(SIZE, '\r\n-'), Buffer.from(`\r\n${MODEL}${FILE}--b--\r\n`)]),
    ],
    ['a long epilogue', () => Buffer.concat([Buffer.from(`${MODEL}${FILE}--b--\r\n`), Buffer.alloc(SIZE, '--b\r\n')])],
    [
      'a header without an end',
      () =>
        Buffer.concat([Buffer.from(`--b\r\ncontent-disposition: form-data; name="`), Buffer.alloc(SIZE, 'a"; name="')]),
    ],
    ['headers without end', () => Buffer.concat([Buffer.from('--b\r\n'), Buffer.alloc(SIZE, 'x: y\r\n')])],
    [
      'parameters without end',
      () => `--b\r\ncontent-disposition: form-data${'; a=b'.repeat(3000)}; name="model"\r\n\r\nm\r\n${FILE}--b--\r\n`,
    ],
    ['empty parts without end', () => Buffer.concat([Buffer.from(MODEL), Buffer.alloc(SIZE, '--b\r\n\r\n\r\n')])],
    ['one name many times', () => `${part(named('a'), 'x').repeat(190)}${MODEL}${FILE}--b--\r\n`],
    [
      'one value of the largest size',
      () => `${part(named('prompt'), '\r\n--a'.repeat(1.5 * MIB))}${MODEL}${FILE}--b--\r\n`,
    ],
  ])('with %s are read or refused in a moment', TIMED, async (_, body) => {
    const { gateway } = await open()
    const began = performance.now()
    const { status } = await post(gateway.server.address, body()).catch(() => ({ status: 400 }))
    expect(performance.now() - began).toBeLessThan(2500)
    expect([200, 400, 413]).toContain(status)
  })
})

describe('forms whose callers and upstreams leave', () => {
  /** The gateway's open files that are unlinked. */
  const spooled = (): number =>
    readdirSync('/proc/self/fd').filter(fd => {
      try {
        return /interlingua-.*\(deleted\)/.test(readlinkSync(`/proc/self/fd/${fd}`))
      } catch {
        return false
      }
    }).length

  test('at any moment leave no file, no slot and no error behind', async () => {
    const { stub, gateway } = await open()
    const { port } = new URL(gateway.server.address)
    const body = Buffer.concat([
      Buffer.from(MODEL),
      Buffer.from(FILE.replace('sound', 'x'.repeat(5 * MIB))),
      Buffer.from('--b--\r\n'),
    ])
    const head = `POST ${TRANSCRIPTIONS_PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\ncontent-length: ${body.length}\r\ncontent-type: multipart/form-data; boundary=${BOUNDARY}\r\n\r\n`
    const lengths = [0, 3, MODEL.length, MODEL.length + 50, MODEL.length + 200, 3 * MIB, 5 * MIB, body.length - 3]
    for (const length of lengths) {
      const socket = connect(Number(port), '127.0.0.1')
      socket.on('error', () => {})
      socket.write(head)
      await new Promise(resolve => socket.write(body.subarray(0, length), resolve))
      socket.resetAndDestroy()
    }
    await until(() => spooled() === 0)
    // A caller has left when its request is logged, which may be after its file is closed.
    await until(() => gateway.lines.filter(({ message }) => message === 'request').length === lengths.length)
    const answers = await Promise.all([1, 2, 3, 4].map(() => post(gateway.server.address, body)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(stub.seen.every(({ files }) => files[0]?.size === 5 * MIB)).toBe(true)
    await until(() => spooled() === 0)
    expect(gateway.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  test.each<[string, Stub['early']]>([
    [
      'answers',
      (message, response) => {
        message.resume()
        response.end('{"text":"early"}')
        return true
      },
    ],
    [
      'refuses',
      (message, response) => {
        message.resume()
        response.writeHead(413).end('{"error":{"message":"no"}}')
        return true
      },
    ],
    [
      'breaks',
      message => {
        message.socket.resetAndDestroy()
        return true
      },
    ],
  ])(
    'while their upstream %s before the form has ended, end at once or go on, and free everything',
    async (_, early) => {
      const { stub, gateway } = await open()
      stub.early = early
      const pieces = [
        { name: 'model', value: 'm' },
        { name: 'file', file: 'a.mp3', size: 16 * MIB },
        { name: 'language', value: 'en' },
      ] as const
      const answers = await Promise.allSettled(
        [1, 2, 3].map(() => upload(gateway.server.address, TRANSCRIPTIONS_PATH, pieces)),
      )
      for (const answer of answers)
        if (answer.status === 'fulfilled') expect([200, 400, 413, 502, 503]).toContain(answer.value.status)
      stub.early = () => false
      await until(() => spooled() === 0)
      const after = await Promise.all([1, 2, 3, 4].map(() => post(gateway.server.address, `${MODEL}${FILE}--b--\r\n`)))
      expect(after.map(({ status }) => status)).toEqual([200, 200, 200, 200])
      expect((stub.seen.at(-1) as SeenForm).fields).toEqual([['model', 'm']])
    },
  )
})

describe('a file that was written to disk', () => {
  test('is whole for the next upstream, wherever the one before it stopped reading', async () => {
    const size = 6 * MIB
    const bytes = Buffer.alloc(size, 'sound')
    // The model comes last, so that the file cannot be sent before it has arrived.
    const head = part(`${named('file', '; filename="talk.mp3"')}\r\ncontent-type: audio/mpeg`, '').slice(0, -2)
    const body = Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n${MODEL}--${BOUNDARY}--\r\n`)])
    for (const stop of [0, 100_000, 3 * MIB]) {
      const refusing = createServer((message, response) => {
        let read = 0
        const refuse = () => {
          message.pause()
          response.writeHead(503, { connection: 'close' }).end('{}', () => message.socket.destroySoon())
        }
        if (stop === 0) refuse()
        else
          message.on('data', (chunk: Buffer) => {
            read += chunk.length
            if (read - chunk.length < stop && read >= stop) refuse()
          })
      })
      await new Promise<void>(resolve => refusing.listen(0, '127.0.0.1', resolve))
      closing.push(
        () => refusing.close(),
        () => refusing.closeAllConnections(),
      )
      const stub = await Stub.open(json({ text: 'so it was said' }))
      closing.push(() => stub.close())
      const { port } = refusing.address() as AddressInfo
      const gateway = await openGateway([
        channelAt(`http://127.0.0.1:${port}`, { format: 'transcriptions', name: 'refusing', priority: 0 }),
        channelAt(stub.address, { format: 'transcriptions', name: 'taking', priority: 1 }),
      ])
      expect(await post(gateway.server.address, body)).toMatchObject({ status: 200 })
      expect(gateway.lines.filter(({ message }) => message === 'a channel failed')).toHaveLength(1)
      const hash = createHash('sha1').update(bytes).digest('hex')
      expect((stub.seen.at(-1) as SeenForm).files).toMatchObject([{ size, hash }])
    }
  })
})

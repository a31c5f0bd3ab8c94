// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a variable that nothing may replace
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { ChannelFields } from '../../builders/config.ts'
import { opener } from '../../builders/opener.ts'
import { answerOf, WireUpstream } from '../../builders/wire-upstream.ts'
import { channelFor, EACH, type EndpointRow, headersOf, STREAMED } from './exchanges.ts'

/* Texts that try to be more than texts: ends of lines, events, headers and paths, and bytes that are no text. */

const { closing, openGateway, openUpstream } = opener()

const EVIL = [
  ...[
    'a\r\nx-evil: 1\r\n\r\n{"evil":true}',
    'a\n\ndata: {"evil":true}\n\n',
    'event: error\ndata: [DONE]\n\n',
    '\u2028\u2029\u0085\u0000\u001b[2J',
  ],
  ...[
    '"}],"evil":true,"a":[{"',
    '${ANTHROPIC_API_KEY}',
    '</script><script>evil()</script>',
    '\ud800',
    '%0d%0ax-evil:%201',
  ],
]

const hasTexts = ({ format }: EndpointRow): boolean => format !== 'embeddings'

/** All texts in a value. */
const textsIn = (value: unknown): string[] =>
  typeof value === 'string'
    ? [value]
    : value !== null && typeof value === 'object'
      ? Object.values(value).flatMap(textsIn)
      : []

/** All names of fields in a value. */
const namesIn = (value: unknown): string[] =>
  value !== null && typeof value === 'object'
    ? [...(Array.isArray(value) ? [] : Object.keys(value)), ...Object.values(value).flatMap(namesIn)]
    : []

async function openRaw(row: EndpointRow, bytes: () => Buffer, fields: ChannelFields = {}) {
  const upstream = await WireUpstream.open(({ socket }) => socket.end(bytes()))
  closing.push(() => upstream.close())
  return openGateway([channelFor(row, upstream.address, fields)])
}

describe.each(EACH)('texts of an upstream of %s', (_, row) => {
  const send = { headers: headersOf(row) }

  test('stay texts: they are no fields, headers or lines of the log', async () => {
    let evil = ''
    const gateway = await openRaw(row, () => answerOf(JSON.stringify({ ...row.answer(evil), id: evil, model: evil })))
    for (evil of EVIL) {
      const answer = await gateway.ask(row.path, row.body, send)
      expect(answer.headers['x-evil']).toBeUndefined()
      if (answer.status !== 200) continue
      expect(namesIn(answer.json)).not.toContain('evil')
      if (hasTexts(row)) expect(textsIn(answer.json).map(one => one.toWellFormed())).toContain(evil.toWellFormed())
    }
    expect(gateway.lines.filter(({ message }) => message === 'request')).toHaveLength(EVIL.length)
  })

  test('in errors and headers reach no header, and show nothing of the upstream', async () => {
    let evil = ''
    const error = () => JSON.stringify({ error: { message: evil, type: evil, code: evil, param: evil }, message: evil })
    const gateway = await openRaw(row, () =>
      answerOf(
        error(),
        { 'x-request-id': 'a\tb', 'set-cookie': 'evil=1', 'retry-after': 'a', location: 'http://evil', 'x-evil': '1' },
        400,
      ),
    )
    for (evil of [...EVIL, 'secret-channel upstream-key-1234 http://127.0.0.1:1/']) {
      const answer = await gateway.ask(row.path, row.body, send)
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(Object.keys(answer.headers)).not.toEqual(expect.arrayContaining(['x-evil']))
      expect([answer.headers['set-cookie'], answer.headers['location']]).toEqual([undefined, undefined])
      expect(namesIn(answer.json)).not.toContain('evil')
      expect(answer.text).not.toContain('upstream-key-1234')
    }
  })

  test('that are cut anywhere are no answer, though the connection ends well', async () => {
    const text = JSON.stringify(row.answer('Hello.'))
    let end = 0
    const gateway = await openRaw(row, () => answerOf(text.slice(0, end)))
    for (end = 0; end < text.length; end += end < 20 || text.length - end < 20 ? 1 : 11) {
      const answer = await gateway.ask(row.path, row.body, send)
      expect(answer.status, text.slice(0, end)).toBe(502)
    }
  })

  test.each<[string, (text: string) => Buffer, object, boolean]>([
    ['a byte order mark', text => Buffer.from(`\ufeff${text}`), {}, true],
    [
      'UTF-16',
      text => Buffer.from(`\ufeff${text}`, 'utf16le'),
      { 'content-type': 'application/json; charset=utf-16' },
      false,
    ],
    [
      'a charset that is not its own',
      text => Buffer.from(text),
      { 'content-type': 'application/json; charset=iso-8859-1' },
      true,
    ],
    ['no type', text => Buffer.from(text), { 'content-type': '' }, true],
    ['bytes that are no UTF-8', text => Buffer.from(text.replaceAll('é', '\u00ff'), 'latin1'), {}, true],
    [
      'overlong UTF-8',
      text =>
        Buffer.concat([
          Buffer.from(text.split('é')[0]!),
          Buffer.from([0xc0, 0xaf]),
          Buffer.from(text.split('é').slice(1).join('é')),
        ]),
      {},
      true,
    ],
    ['twice packed bytes', text => gzipSync(gzipSync(text)), { 'content-encoding': 'gzip' }, false],
  ])('in %s are read as UTF-8, or are no answer', async (name, bytes, headers, isRead) => {
    const text = JSON.stringify(row.answer('Héllo'))
    if (name.includes('UTF-8') && !text.includes('é')) return
    const gateway = await openRaw(row, () => answerOf(bytes(text), headers as { readonly [name: string]: string }))
    const answer = await gateway.ask(row.path, row.body, send)
    expect(answer.status).toBe(isRead ? 200 : 502)
    expect(answer.text).toBe(answer.text.toWellFormed())
    if (isRead) expect(answer.json).toBeTypeOf('object')
  })
})

describe.each(STREAMED)('texts in a stream of %s', (_, row, pieces) => {
  test('stay texts of their events', async () => {
    let evil = ''
    const upstream = await openUpstream(response => {
      response
        .writeHead(200, { 'content-type': pieces.type })
        .end(Buffer.concat([pieces.head, pieces.word(evil), pieces.tail]))
    })
    const gateway = await openGateway([channelFor(row, upstream.address)])
    for (evil of EVIL) {
      const answer = await gateway.send(pieces.path, pieces.body, { headers: headersOf(row) }).answer
      const chunks: Buffer[] = []
      for await (const chunk of answer) chunks.push(chunk as Buffer)
      const bytes = Buffer.concat(chunks)
      expect(pieces.textIn(bytes).toWellFormed()).toBe(evil.toWellFormed())
    }
  })
})

describe.each(EACH)('names that a caller of %s sends', (_, row) => {
  const NAMES = [
    ...[
      '../../../evil',
      '..%2f..%2fevil',
      'a?x=1',
      'a#b',
      'a\r\nx-evil: 1',
      'a b',
      'a/../../v1/evil',
      '//evil.example/a',
      'a%0d%0ax-evil:%201',
    ],
    ...['\u0000', '😀', 'a\ud800', '.', '..', '%2e%2e', 'a\\..\\evil', '@evil.example', 'a:evil', ';/evil'],
  ]
  const isInPath = ['contents', 'converse'].includes(row.format)

  test('reach neither the path, nor the query, nor a header of its upstream', async () => {
    const upstream = await openUpstream(response => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(row.answer('Hello.')))
    })
    const models = { named: new Map<string, string>(), patterns: ['*'] }
    const gateway = await openGateway([channelFor(row, upstream.address, { models })])
    await gateway.ask(row.path, row.body, { headers: headersOf(row) })
    // The gateway also asks for the list of models.
    const posts = () => upstream.seen.filter(({ method }) => method === 'POST')
    const usual = posts()[0]!
    for (const name of NAMES) {
      const path = isInPath
        ? row.path.replace(/\/m(?=[:/])/, () => `/${encodeURIComponent(name.toWellFormed())}`)
        : row.path
      const body = isInPath ? row.body : { ...row.body, model: name, user: name }
      const answer = await gateway.ask(path, body, { headers: headersOf(row) })
      const seen = posts().at(-1)!
      expect(answer.headers['x-evil']).toBeUndefined()
      if (seen === usual) continue
      expect(seen.headers['x-evil']).toBeUndefined()
      expect(Object.keys(seen.headers).sort()).toEqual(Object.keys(usual.headers).sort())
      if (isInPath) {
        // A model may have a slash in its name. Segments of dots are found by the comparison below.
        const shape = (url: string) =>
          url.replace(/models\/[^?#]+:/, 'models/M:').replace(/model\/[^/?#]+\//, 'model/M/')
        expect(shape(seen.url.replace(/%3A/gi, '-')), name).toBe(shape(usual.url))
        expect(new URL(seen.url, 'http://x').pathname, name).toBe(seen.url.split('?')[0])
      } else expect(seen.url).toBe(usual.url)
      upstream.seen.splice(0, upstream.seen.length, usual)
    }
  })

  test('in bytes that are no UTF-8 are refused or replaced, and never passed on', async () => {
    const upstream = await openUpstream(response => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(row.answer('Hello.')))
    })
    const gateway = await openGateway([channelFor(row, upstream.address)])
    const text = JSON.stringify({ ...row.body, user: 'X' })
    for (const bytes of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0x80]]) {
      const [before, after] = text.split('"X"') as [string, string]
      const body = Buffer.concat([Buffer.from(`${before}"`), Buffer.from(bytes), Buffer.from(`"${after}`)])
      const answer = await fetch(`${gateway.server.address}${row.path}`, {
        ...{ method: 'POST', body },
        headers: { authorization: 'Bearer caller-key-of-the-tests', ...headersOf(row) },
      })
      await answer.arrayBuffer()
      const sent = upstream.seen.at(-1)
      if (sent !== undefined) expect(() => JSON.parse(sent.text)).not.toThrow()
      expect(answer.status === 200 || answer.status === 400).toBe(true)
    }
  })
})

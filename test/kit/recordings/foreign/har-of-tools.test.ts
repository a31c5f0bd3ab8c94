import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readFolder } from '../../../../src/kit/recordings/folder.ts'
import { importFile } from '../../../../src/kit/recordings/foreign/import-file.ts'

/*
 * HAR files as mitmproxy 12 (`hardump`) and Playwright 1.5x (`recordHar`, `routeFromHAR`) write them: both were run with
 * the clients of six formats on 2026-12-01.
 */

const ORIGIN = 'http://127.0.0.1:4747'
const CHAT = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [] }

/** Imports a HAR with the given entries and the files beside it. */
async function imported(
  entries: readonly object[],
  files: { readonly [name: string]: string | Buffer } = {},
  links: { readonly [name: string]: string } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'har-'))
  const file = join(folder, 'har', 'a.har')
  for (const [name, content] of Object.entries({ ...files, 'a.har': JSON.stringify({ log: { entries } }) })) {
    mkdirSync(dirname(join(folder, 'har', name)), { recursive: true })
    writeFileSync(join(folder, 'har', name), content)
  }
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(folder, 'har', name))
  const skipped: string[] = []
  const into = join(folder, 'recordings')
  const count = await importFile(file, { folder: into, onSkipped: message => skipped.push(message) })
  const recordings = count === 0 ? [] : readFolder(into).map(({ recording }) => recording)
  return { recordings, skipped: skipped.map(one => one.replace(/^.*: (?=the|there)/, '')) }
}

interface Parts {
  readonly path?: string
  readonly type?: string
  readonly postData?: object
  readonly bodySize?: number
  readonly content?: object
}

const entry = ({ path = '/v1/chat/completions', type = 'application/json', postData, bodySize, content }: Parts) => ({
  startedDateTime: '2026-12-01T10:00:00.000Z',
  request: {
    ...{ method: 'POST', url: ORIGIN + path, bodySize: bodySize ?? -1 },
    ...(postData === undefined ? {} : { postData }),
    headers: [{ name: 'Content-Type', value: type }],
  },
  response: {
    ...{ status: 200, headers: [] },
    content: content ?? { mimeType: 'application/json', size: -1, text: JSON.stringify(CHAT) },
  },
})

describe('bodies that mitmproxy writes one character for each byte', () => {
  const latin = (bytes: Buffer) => ({ text: bytes.toString('latin1'), size: bytes.length })
  const form = (file: Buffer) =>
    Buffer.concat([
      Buffer.from('--bound\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n'),
      Buffer.from('--bound\r\nContent-Disposition: form-data; name="prompt"\r\n\r\nGrüße\r\n'),
      Buffer.from(
        '--bound\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\n',
      ),
      ...[file, Buffer.from('\r\n--bound--\r\n')],
    ])

  test('keep the bytes of files and texts in forms', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index))
    const { text, size } = latin(form(bytes))
    const type = 'multipart/form-data; boundary=bound'
    const path = '/v1/audio/transcriptions'
    const { recordings } = await imported([
      entry({ path, type, postData: { mimeType: type, text, params: [] }, bodySize: size }),
    ])
    expect(recordings[0]!.request.body).toMatchObject({
      form: [{ text: 'm' }, { text: 'Grüße' }, { base64: bytes.toString('base64') }],
    })
  })

  test('keep the texts of streams without a charset, such as those of Gemini', async () => {
    const event = Buffer.from('data: {"candidates":[{"content":{"parts":[{"text":"Grüße 😀"}]}}]}\r\n\r\n')
    const { recordings } = await imported([
      entry({
        ...{ path: '/v1beta/models/m:streamGenerateContent?alt=sse', postData: { text: '{"contents":[]}' } },
        content: { mimeType: 'text/event-stream', ...latin(event) },
      }),
    ])
    expect(JSON.stringify(recordings[0]!.answer)).toContain('Grüße 😀')
  })

  test('keep the frames of Converse', async () => {
    const frame = Buffer.from([0, 0, 0, 0x76, 0xff, 0xc3, 0x28, 0x80])
    const { recordings } = await imported([
      entry({
        ...{ path: '/model/m/converse-stream', postData: { text: '{"messages":[]}' } },
        content: { mimeType: 'application/vnd.amazon.eventstream', ...latin(frame) },
      }),
    ])
    expect(JSON.stringify(recordings[0]!.answer)).toContain(frame.toString('base64'))
  })

  test('are not taken for those of texts in UTF-8 whose size counts bytes or characters', async () => {
    for (const size of [5, 7, -1, undefined])
      for (const mimeType of ['text/plain', 'application/json', 'text/event-stream']) {
        const { recordings } = await imported([
          entry({ path: '/x', postData: { text: '{}' }, content: { mimeType, text: 'Grüße', size } }),
        ])
        expect(JSON.stringify(recordings[0]!.answer)).toContain('Grüße')
      }
  })
})

describe('bodies that Playwright attaches as files', () => {
  const attached = (name: string) => ({
    postData: { mimeType: 'application/json', text: '', params: [], _file: 'q.json' },
    content: { mimeType: 'application/json', size: -1, _file: name },
  })
  const files = { 'q.json': JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Grüße' }] }) }

  test('are read from the folder of the HAR', async () => {
    const { recordings, skipped } = await imported([entry(attached('below/a.json'))], {
      ...files,
      'below/a.json': JSON.stringify(CHAT),
    })
    expect(skipped).toEqual([])
    expect(recordings[0]).toMatchObject({
      request: { body: { json: { messages: [{ content: 'Grüße' }] } } },
      answer: { body: { json: CHAT } },
    })
  })

  test('are never read from elsewhere, and an entry without them is left out', async () => {
    const outside = join(mkdtempSync(join(tmpdir(), 'secret-')), 'a.json')
    writeFileSync(outside, '{"secret":1}')
    const names = ['none.json', outside, '../../secret.json', '..', '.', 'a\0b', '']
    const { recordings, skipped } = await imported(
      names.map(name => entry(attached(name))),
      files,
    )
    expect(recordings).toEqual([])
    expect(skipped).toEqual(names.map(name => `there is no file ${JSON.stringify(name)} beside this one`))
  })

  test('are neither hidden files nor links to elsewhere', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'secret-'))
    writeFileSync(join(elsewhere, 'a.json'), '{"secret":1}')
    const names = ['.env', 'below/.git/config', 'linked/a.json']
    const { recordings, skipped } = await imported(
      names.map(name => entry(attached(name))),
      { ...files, '.env': '{"secret":1}', 'below/.git/config': '{"secret":1}' },
      { linked: elsewhere },
    )
    expect(recordings).toEqual([])
    expect(skipped).toEqual(names.map(name => `there is no file ${JSON.stringify(name)} beside this one`))
  })
})

test.each([
  ['without a text', undefined],
  ['with an empty text', { mimeType: 'multipart/form-data; boundary=bound', text: '', params: [] }],
])('a form whose files the browser left out is left out: %s', async (_, postData) => {
  const type = 'multipart/form-data; boundary=bound'
  const rest = postData === undefined ? {} : { postData }
  const { recordings, skipped } = await imported([entry({ path: '/v1/audio/transcriptions', type, ...rest })])
  expect(recordings).toEqual([])
  expect(skipped).toEqual(['the file has no body of the request'])
})

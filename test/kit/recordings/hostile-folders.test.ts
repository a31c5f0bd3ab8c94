import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readRecording, writeRecording } from '../../../src/kit/recordings/file.ts'
import { readFolder } from '../../../src/kit/recordings/folder.ts'
import { type Recording, VERSION } from '../../../src/kit/recordings/recording.ts'
import { openReplay } from '../../../src/kit/recordings/replay-server.ts'

/* Folders of recordings as disks, editors and other programs leave them. */

const root = mkdtempSync(join(tmpdir(), 'hostile-'))
afterAll(() => rmSync(root, { recursive: true }))

const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
const RECORDING: Recording = {
  ...{ version: VERSION, program: 'test', recorded_at: '2026-11-28T00:00:00.000Z', ignore: ['/x/'] },
  request: { method: 'POST', path: '/v1/chat/completions', headers: {}, body: { json: body } },
  answer: { status: 200, headers: { 'content-type': 'application/json' }, ms: 1, body: { json: {} }, complete: true },
}
const TEXT = writeRecording(RECORDING)

let count = 0
function folderWith(fill: (folder: string, file: string) => void): string {
  const folder = join(root, String(++count))
  mkdirSync(folder)
  fill(folder, join(folder, 'a.json'))
  return folder
}

test('a file that is cut at any byte is an error with file and line', () => {
  const end = TEXT.trimEnd().length
  for (let at = 0; at < end; at++)
    expect(() => readRecording(TEXT.slice(0, at), 'a.json'), `cut at ${at}`).toThrow(/^a\.json:?\d*: (is empty|\D+)/)
  expect(readRecording(TEXT.slice(0, end), 'a.json')).toEqual(RECORDING)
})

describe('a folder', () => {
  test.each<[string, (folder: string, file: string) => void, RegExp]>([
    [
      'with a link that leads nowhere',
      (_, file) => symlinkSync('/nowhere/x.json', file),
      /a\.json: cannot be read: ENOENT/,
    ],
    ['with a pipe', (_, file) => execFileSync('mkfifo', [file]), /a\.json: is not a file$/],
    [
      'with a gigabyte of nothing',
      (_, file) => {
        writeFileSync(file, '')
        truncateSync(file, 2 ** 30)
      },
      /a\.json: is too large: 1073741824 bytes/,
    ],
    [
      'with a rule that is no expression',
      (_, file) => writeFileSync(file, TEXT.replace('/x/', '/(/')),
      /a\.json:6: ignore\[0\]: is neither/,
    ],
    [
      'with bytes that are no text',
      (_, file) => writeFileSync(file, Buffer.from([0xff, 0xfe, 0])),
      /a\.json:1: is not JSON/,
    ],
    [
      'of a newer version',
      (_, file) => writeFileSync(file, TEXT.replace('"version": 1', '"version": 2')),
      /a\.json:2: version: is 2; this program reads 1/,
    ],
  ])('%s is an error that names the file', (_, fill, message) => {
    expect(() => readFolder(folderWith(fill))).toThrow(message)
  })

  // The superuser may read everything.
  test.skipIf(process.getuid?.() === 0)('with a file that may not be read is an error that names it', () => {
    const folder = folderWith((_, file) => {
      writeFileSync(file, TEXT)
      chmodSync(file, 0)
    })
    expect(() => readFolder(folder)).toThrow(/a\.json: cannot be read: EACCES/)
  })

  test('with links to itself, folders named like files and a byte order mark is read, each recording once', () => {
    const folder = folderWith((at, file) => {
      writeFileSync(file, `\uFEFF${TEXT}`)
      symlinkSync(at, join(at, 'self'))
      symlinkSync(file, join(at, 'other.json'))
      mkdirSync(join(at, 'b.json'))
    })
    expect(readFolder(folder).map(({ file }) => file)).toEqual(['a.json'])
  })

  test('that vanishes while it is served still answers', async () => {
    const folder = folderWith((_, file) => writeFileSync(file, TEXT))
    const replay = await openReplay({ recordings: readFolder(folder) })
    rmSync(folder, { recursive: true })
    const ask = (text: string) => fetch(`${replay.url}/v1/chat/completions`, { method: 'POST', body: text })
    expect((await ask(JSON.stringify(body))).status).toBe(200)
    await replay.close()
  })
})

test('a recording nested too deeply to compare is an error that names its file', async () => {
  const deep = `{"model":"m","messages":[],"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
  const text = TEXT.replace(JSON.stringify(body, null, 2).replaceAll('\n', '\n        '), deep)
  const nested = text.includes(deep) ? text : JSON.stringify({ ...RECORDING }).replace(JSON.stringify(body), deep)
  const replay = await openReplay({
    recordings: [{ file: 'deep.json', recording: readRecording(nested, 'deep.json') }],
  })
  const answer = await fetch(`${replay.url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify(body) })
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('deep.json: cannot be compared')])
  // Requests of another method are not compared with it.
  const list = await fetch(`${replay.url}/v1/models`)
  expect([list.status, await list.text()]).toEqual([404, expect.stringContaining('no recordings of GET requests')])
  await replay.close()
})

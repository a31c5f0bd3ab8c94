import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bodyBytes, bytesOf, recordedBody, recordedBytes } from '../../../src/kit/recordings/body.ts'
import { MAX_FILE_SIZE, readRecording, readRecordingFile, writeRecording } from '../../../src/kit/recordings/file.ts'
import type { Recording } from '../../../src/kit/recordings/recording.ts'
import { holds } from '../../laws/support.ts'

/** A small recording of a stream. */
const STREAM: Recording = {
  version: 1,
  program: 'interlingua 0.1.0',
  recorded_at: '2026-11-28T08:00:00.000Z',
  format: 'chat',
  endpoint: '/v1/chat/completions',
  request: {
    ...{ method: 'POST', path: '/v1/chat/completions', headers: { 'content-type': 'application/json' } },
    body: { json: { model: 'm', messages: [{ role: 'user', content: 'Hi', chunks: null }], stream: true } },
  },
  answer: {
    ...{ status: 200, headers: { 'content-type': 'text/event-stream' }, ms: 2.5, complete: true },
    chunks: [
      { ms: 3, text: 'data: {"choices":[]}\n\n' },
      { ms: 4.5, base64: '/w==' },
    ],
  },
}

const lines = (text: string, change: (lines: string[]) => void): string => {
  const all = text.split('\n')
  change(all)
  return all.join('\n')
}

describe('a recording file', () => {
  test('is read as it was written, with one chunk on a line', () => {
    const text = writeRecording(STREAM)
    expect(readRecording(text, 'a.json')).toEqual(STREAM)
    expect(text).toContain('\n      {"ms":3,"text":"data: {\\"choices\\":[]}\\n\\n"},\n')
  })

  test('keeps the bytes of every body, as JSON, text or base64', () => {
    const jsonText = fc
      .tuple(fc.json(), fc.constantFrom(undefined, 2, 3, 4, '\t'))
      .map(([text, indent]) => JSON.stringify(JSON.parse(text), undefined, indent))
    const body = fc.oneof(
      jsonText.map(text => Buffer.from(text)),
      fc.string({ unit: 'binary' }).map(text => Buffer.from(text)),
      fc.uint8Array({ maxLength: 20 }).map(bytes => Buffer.from(bytes)),
    )
    holds(body, bytes => {
      expect(bodyBytes(JSON.parse(JSON.stringify(recordedBody(bytes) ?? null)) ?? undefined)).toEqual(bytes)
      expect(bytesOf(recordedBytes(bytes))).toEqual(bytes)
    })
    expect(recordedBody(Buffer.from('{\n  "a": 1\n}'))).toEqual({ json: { a: 1 }, indent: 2 })
    expect(recordedBody(Buffer.from('{"a":1.0}'))).toEqual({ text: '{"a":1.0}' })
    expect(recordedBody(Buffer.from([0xff]))).toEqual({ base64: '/w==' })
  })

  test.each([
    ['empty', () => ' \n', 'a.json: is empty'],
    ['cut off', (text: string) => text.slice(0, 300), 'a.json:13: the file is cut off: its JSON has no end'],
    [
      'cut off behind a text of many megabytes',
      () => `{"text":"${'\\u0001'.repeat(4_000_000)}"`,
      'a.json:1: the file is cut off: its JSON has no end',
    ],
    [
      'malformed by hand',
      (text: string) => lines(text, all => (all[7] = '    "method": POST,')),
      /^a\.json:8: is not JSON: /,
    ],
    [
      'of a newer version',
      (text: string) => text.replace('"version": 1', '"version": 2'),
      'a.json:2: version: is 2; this program reads 1 at most, so a newer one is needed',
    ],
    ['of another kind', () => '{"log":{}}', 'a.json: is not a recording: its field `version` is missing'],
    [
      'with a misspelt field',
      (text: string) => text.replace('"method"', '"methd"'),
      /^a\.json:7: request\.method: is missing\na\.json:8: request\.methd: unknown; did you mean "method"\?$/,
    ],
    [
      'with two bodies',
      (text: string) => text.replace('"body": {', '"body": {"text": "a",'),
      'a.json:13: request.body: needs exactly one of json, text, base64, form',
    ],
    [
      'with a chunk of a wrong type',
      (text: string) => text.replace('{"ms":4.5', '{"ms":"4.5"'),
      /^a\.json:36: answer\.chunks\[1\]\.ms: expected milliseconds$/,
    ],
    [
      'with a chunk that is not base64',
      (text: string) => text.replace('/w==', '/w='),
      'a.json:36: answer.chunks[1].base64: is not base64',
    ],
  ])('%s is refused with file and line', (_, change, message) => {
    expect(() => readRecording(change(writeRecording(STREAM)), 'a.json')).toThrow(message)
  })

  test('a huge file is refused before it is read', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'recordings-')), 'huge.json')
    writeFileSync(file, Buffer.alloc(MAX_FILE_SIZE + 1, 'a'))
    expect(() => readRecordingFile(file)).toThrow(`${file}: is too large: ${MAX_FILE_SIZE + 1} bytes`)
  })
})

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { stringify } from 'yaml'
import type { Json } from '../../../src/canonical/node.ts'
import { RecordingError } from '../../../src/kit/recordings/file.ts'
import { readFolder } from '../../../src/kit/recordings/folder.ts'
import { importFile } from '../../../src/kit/recordings/foreign/import-file.ts'
import { bodiesIn } from '../../builders/fixtures.ts'
import { SECRETS } from '../oracles.ts'
import { Broken, type Target, type Watch } from '../target.ts'

/*
 * Files of other tools that record exchanges. They become recordings without credentials, or are refused with file and
 * line.
 */

const { key } = SECRETS
const question = JSON.stringify(bodiesIn('chat', 'request.json')[0])
const answer = JSON.stringify(bodiesIn('chat', 'result.json')[0])
const STREAM = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\ndata: [DONE]\n\n'
const named = (fields: object) => Object.entries(fields).map(([name, value]) => ({ name, value: String(value) }))
const HEADERS = { 'content-type': 'application/json', authorization: `Bearer ${key}`, cookie: `a=${key}` }

/** HAR files of browsers and of Polly.JS. */
const HAR: readonly Json[] = [
  {
    log: {
      ...{ _recordingName: 'a', creator: { name: 'Polly.JS', version: '6' }, version: '1.2' },
      entries: [
        {
          _id: 'a',
          startedDateTime: '2026-11-28T10:00:00.000Z',
          request: {
            ...{
              method: 'POST',
              url: `https://api.example.com/v1/chat/completions?key=${key}`,
              headers: named(HEADERS),
            },
            postData: { mimeType: 'application/json', text: question, params: [] },
          },
          response: {
            ...{ status: 200, headers: named({ 'content-type': 'application/json', 'set-cookie': `a=${key}` }) },
            content: { mimeType: 'application/json', text: answer, size: answer.length },
          },
          timings: { send: 1, wait: 20, receive: 3 },
        },
        {
          startedDateTime: '2026-11-28T10:00:01Z',
          request: {
            ...{ method: 'POST', url: 'https://api.example.com/v1/audio/transcriptions', headers: [] },
            postData: {
              mimeType: 'multipart/form-data; boundary=b',
              params: [
                { name: 'model', value: 'm' },
                { name: 'file', fileName: 'a.wav', contentType: 'audio/wav', value: 'UklGRg==', _encoding: 'base64' },
              ],
            },
          },
          response: {
            ...{ status: 200, headers: named({ 'content-type': 'text/event-stream' }) },
            content: {
              ...{ text: Buffer.from(STREAM).toString('base64'), encoding: 'base64' },
              _chunks: [{ ms: 1, bytes: 20 }],
            },
          },
        },
        {
          startedDateTime: '2026-11-28T10:00:02Z',
          request: { method: 'GET', url: 'wss://api.example.com/v1/realtime?model=m', headers: [] },
          response: { status: 101, headers: [] },
          _webSocketMessages: [
            { type: 'send', time: 1, opcode: 1, data: '{"type":"response.create"}' },
            { type: 'receive', time: 2, opcode: 2, data: 'AAAA' },
          ],
        },
      ],
    },
  },
]

const interaction = (response: object) => ({
  request: {
    ...{ method: 'POST', uri: `https://api.example.com/v1/chat/completions?key=${key}`, body: question },
    headers: { 'Content-Type': ['application/json'], 'X-Api-Key': [key] },
  },
  response: { status: { code: 200, message: 'OK' }, headers: { Date: ['Sat, 28 Nov 2026 10:00:00 GMT'] }, ...response },
})

/** Cassettes of vcrpy. */
const CASSETTES: readonly Json[] = [
  {
    interactions: [
      interaction({ body: { string: answer } }),
      interaction({ parsed_body: { a: 1 }, headers: { 'content-encoding': ['gzip'] } }),
      interaction({ body: gzipSync(STREAM).toString('latin1'), headers: { 'Content-Encoding': ['gzip'] } }),
    ],
    version: 1,
  } as unknown as Json,
]

/** Fixture files of aimock. */
const FIXTURES: readonly Json[] = [
  {
    fixtures: [
      {
        match: { userMessage: 'Hi', model: 'm' },
        response: { content: 'Ho', finishReason: 'stop', usage: { total: 1 } },
      },
      { match: { inputText: 'a', endpoint: 'embedding' }, response: { embedding: [0.1, 0.2] } },
      { match: { userMessage: 'a', sequenceIndex: 1 }, response: { toolCalls: [{ name: 'f', arguments: '{}' }] } },
      { match: { userMessage: 'b' }, response: { error: { message: `bad ${key}` }, status: 429 } },
      { match: { toolCallId: 'a' }, response: { content: { a: 1 }, reasoning: 'so' } },
    ],
  },
]

const FILES = /^src\/kit\/recordings\/foreign\//

/** Time that 100 kB may take, in milliseconds: files are written and read, and YAML is slow. */
const TIME = 1000

const kind = (
  name: string,
  inputs: string,
  seeds: readonly Json[],
  asText = JSON.stringify as (input: Json) => string,
) => ({
  name: `recording:${name}`,
  inputs,
  files: FILES,
  time: TIME,
  seeds: () => seeds,
  run: (input: Json, watch: Watch) => imported(typeof input === 'string' ? input : asText(input), watch),
})

export const RECORDINGS: readonly Target[] = [
  kind('har', 'HAR files, as browsers and Polly.JS write them', HAR),
  kind('vcrpy', 'cassettes of vcrpy, as values', CASSETTES),
  kind(
    'vcrpy-text',
    'cassettes of vcrpy, as YAML',
    CASSETTES.map(one => stringify(one)),
  ),
  kind('aimock', 'fixture files of aimock', FIXTURES),
]

async function imported(text: string, watch: Watch): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'fuzz-'))
  try {
    const file = join(folder, 'a.file')
    writeFileSync(file, text)
    const into = join(folder, 'recordings')
    const count = await importFile(file, { folder: into, onSkipped: message => watch.quoted(message) })
    watch.unmeasured(() => checkRecordings(into, count, text, watch))
  } catch (thrown) {
    if (!(thrown instanceof RecordingError)) throw thrown
    watch.quoted(thrown.message)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What was written can be read, and has no credential that stood in a place for credentials. */
function checkRecordings(folder: string, count: number, text: string, watch: Watch): void {
  if (count === 0) return
  const recordings = readFolder(folder)
  if (recordings.length !== count) throw new Broken('import', `wrote ${recordings.length} recordings, not ${count}`)
  for (const { recording } of recordings) watch.returned(recording)
  for (const place of [`Bearer ${key}`, `key=${key}`])
    if (JSON.stringify(recordings).includes(place) && text.includes(place)) throw new Broken('secret', `has ${place}`)
}

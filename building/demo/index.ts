import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DEFAULT_SAMPLES, wavHeader } from '../../src/canonical/media/wav.ts'
import { isObject, type JsonObject } from '../../src/canonical/node.ts'
import { endpointPath } from '../../src/formats/routes.ts'
import { recordedBody, recordedBytes } from '../../src/kit/recordings/body.ts'
import { writeRecording } from '../../src/kit/recordings/file.ts'
import { modelOf } from '../../src/kit/recordings/read-request.ts'
import type { RecordedAnswer, RecordedBody, RecordedRequest, Recording } from '../../src/kit/recordings/recording.ts'
import { writeExamples } from './examples.ts'
import { answerHead, HEAD, PACE } from './head.ts'
import { demoVideos } from './videos.ts'

/*
 * Makes the recordings from which the built-in provider answers, from the fixtures of the formats: `npm run demo`. The
 * files are committed.
 */

const FIXTURES = join(import.meta.dirname, '..', '..', 'fixtures')
const DEMO = join(FIXTURES, 'demo')

/** Conversation formats. A whole answer is folded from the stream, so that one recording is enough. */
const STREAMED = ['chat', 'responses', 'messages', 'contents', 'interactions', 'cohere-chat', 'completions']
const OTHERS = ['embeddings', 'rerank', 'cohere', 'images', 'speech', 'transcriptions']

/** Media types of whole answers that are not JSON. */
const RAW: { readonly [ending: string]: string } = { wav: 'audio/wav', mp3: 'audio/mpeg', pcm: 'audio/pcm' }

/** Recordings that answer requests for other models than their own. The recordings with most paths come first. */
const GENERAL: { readonly [format: string]: readonly General[] } = {
  ...Object.fromEntries(
    ['chat', 'responses', 'messages', 'contents', 'interactions', 'cohere-chat'].map(format => [
      format,
      [
        { name: 'hello', match: [] },
        { name: 'tool-call', match: ['tools.*.name', 'messages.-1.role'] },
        { name: 'compact', match: [] },
      ],
    ]),
  ),
  completions: [{ name: 'hello', match: [] }],
  embeddings: [{ name: 'hello', match: [] }],
  rerank: [{ name: 'hello', match: [] }],
  cohere: [
    { name: 'embed', match: [] },
    { name: 'rerank', match: [] },
  ],
  images: [{ name: 'hello', match: [] }],
  speech: [{ name: 'hello', match: ['output.audio.mediaType'] }],
  transcriptions: [
    { name: 'times', match: [] },
    { name: 'hello', match: [], streams: true },
    { name: 'speakers', match: ['output.transcript.speakers'] },
    { name: 'translation', match: ['output.transcript.task'] },
  ],
}

/** Formats in which a recording fits only some requests for its model; a general one answers the others. */
const NAMED: { readonly [format: string]: readonly string[] | undefined } = {
  speech: ['model', 'output.audio.mediaType'],
  transcriptions: ['model', ...['task', 'timestamps', 'speakers'].map(field => `output.transcript.${field}`)],
}

interface General {
  readonly name: string
  readonly match: readonly string[]
  /** Only the streamed answer. */
  readonly streams?: true
}

/** The model that answers every request. */
const ANY_MODEL = 'replay'

interface Fixture {
  readonly format: string
  readonly name: string
  readonly request: { readonly path: string; readonly body: JsonObject; readonly files?: readonly JsonObject[] }
}

/** Returns the recordings of the demo by file. */
export function demoRecordings(): ReadonlyMap<string, Recording> {
  const files = new Map<string, Recording>()
  for (const format of [...STREAMED, ...OTHERS])
    for (const fixture of fixturesOf(format)) {
      const { name } = fixture
      const general = (GENERAL[format] ?? []).filter(one => one.name === name)
      for (const streams of [true, false]) {
        const answer =
          STREAMED.includes(format) && !streams && isStreamed(fixture) ? undefined : answerOf(fixture, streams)
        if (answer === undefined) continue
        const ending = streams && !STREAMED.includes(format) ? '-stream' : ''
        const model = `${ANY_MODEL}-${format}-${name}`
        files.set(
          `${format}/${name}${ending}.json`,
          recording(fixture, { model, match: NAMED[format] ?? ['model'], streams, answer }),
        )
        for (const { match, streams: only } of general)
          if (only === undefined || streams)
            files.set(
              `${format}/any-${name}${ending}.json`,
              recording(fixture, { model: ANY_MODEL, match, streams, answer }),
            )
      }
    }
  for (const [name, one] of [...speechOfOthers(), ...demoVideos(FIXTURES)]) files.set(name, one)
  const models = [...new Set([ANY_MODEL, ...[...files.values()].flatMap(({ request }) => modelOf(request) ?? [])])]
  for (const path of ['/v1/models', '/v1beta/models'])
    files.set(`models${path.replace('/models', '').replace('/', '-')}.json`, listOf(path, models))
  return files
}

/** Writes the files of the demo. */
export function writeDemo(): void {
  rmSync(DEMO, { recursive: true, force: true })
  for (const [name, one] of demoRecordings()) {
    mkdirSync(dirname(join(DEMO, name)), { recursive: true })
    writeFileSync(join(DEMO, name), writeRecording(one))
  }
}

function fixturesOf(format: string): readonly Fixture[] {
  const folder = join(FIXTURES, format)
  return readdirSync(folder)
    .flatMap(file => /^([^.]+)\.request\.json$/.exec(file)?.[1] ?? [])
    .sort()
    .map(name => ({ format, name, request: JSON.parse(readFileSync(join(folder, `${name}.request.json`), 'utf8')) }))
}

const isStreamed = ({ format, name }: Fixture): boolean => existsSync(join(FIXTURES, format, `${name}.events.sse`))

interface About {
  readonly model: string
  readonly match: readonly string[]
  readonly streams: boolean
  readonly answer: RecordedAnswer
}

function recording(fixture: Fixture, { model, match, streams, answer }: About): Recording {
  const { format, request } = fixture
  return {
    ...HEAD,
    ...{ format, match: [...match] },
    request: requestOf(fixture, model, streams),
    answer,
    ...(request.path.includes(':') ? {} : { endpoint: endpointPath(format, request.path) }),
  }
}

function requestOf({ format, request }: Fixture, model: string, streams: boolean): RecordedRequest {
  const { path, body, files } = request
  const isForm = files !== undefined && files.length > 0
  const headers = {
    'content-type': isForm ? 'multipart/form-data' : 'application/json',
    ...(format === 'messages' ? { 'anthropic-version': '2023-06-01' } : {}),
  }
  if (format === 'contents') {
    const method = streams ? 'streamGenerateContent' : /:(\w+)$/.exec(path)![1]!
    const at = `/v1beta/models/${model}:${method}`
    const json = JSON.parse(JSON.stringify(body).replaceAll(`"models/${ANY_MODEL}"`, `"models/${model}"`)) as JsonObject
    return { method: 'POST', path: at, ...(streams ? { query: { alt: 'sse' } } : {}), headers, body: { json } }
  }
  const wanted = format === 'speech' ? { stream_format: 'sse' } : { stream: true }
  const asked: JsonObject = { ...withoutStream(body), model, ...(streams ? wanted : {}) }
  const at = endpointPath(format, path)
  return { method: 'POST', path: at, headers, body: isForm ? formOf(asked, files) : { json: asked } }
}

const withoutStream = ({ stream: _, stream_format: __, ...body }: JsonObject): JsonObject => body

const formOf = (body: JsonObject, files: readonly JsonObject[]): RecordedBody => ({
  form: [
    ...Object.entries(body).flatMap(([field, value]) => [value].flat().map(text => ({ field, text: String(text) }))),
    ...files.map(({ field, name, mediaType, bytes }) => ({
      ...{ field: String(field), name: String(name), media_type: String(mediaType), base64: String(bytes) },
    })),
  ],
})

function answerOf({ format, name }: Fixture, streams: boolean): RecordedAnswer | undefined {
  const stem = join(FIXTURES, format, name)
  if (streams) {
    if (!existsSync(`${stem}.events.sse`)) return undefined
    const events = readFileSync(`${stem}.events.sse`, 'utf8').match(/[\s\S]+?\r?\n\r?\n/g)!
    const chunks = events.map((text, index) => ({ ms: PACE * (index + 1), text }))
    return { ...answerHead('text/event-stream'), chunks }
  }
  if (existsSync(`${stem}.result.json`)) {
    const value = JSON.parse(readFileSync(`${stem}.result.json`, 'utf8')) as JsonObject
    const json = 'status' in value && isObject(value['body']) ? value['body'] : value
    return { ...answerHead('application/json'), body: { json: withoutInputs(json) } }
  }
  const ending = Object.keys(RAW).find(one => existsSync(`${stem}.result.${one}`))
  if (ending === undefined) return undefined
  return { ...answerHead(RAW[ending]!), body: recordedBody(readFileSync(`${stem}.result.${ending}`))! }
}

/** Cohere's answers repeat their texts, which are others in other requests. */
const withoutInputs = ({ texts: _, ...result }: JsonObject): JsonObject => result

/** Speech in containers that are requested explicitly, and the refusal of those in which there is no recording. */
function* speechOfOthers(): Generator<[string, Recording]> {
  const samples = readFileSync(join(FIXTURES, 'realtime', 'hello.pcm'))
  const spoken = { pcm: samples, wav: Buffer.concat([wavHeader(DEFAULT_SAMPLES, samples.length), samples]) }
  for (const fixture of fixturesOf('speech')) {
    const bytes = spoken[fixture.name as 'pcm']
    if (bytes === undefined) continue
    const whole = { ...answerHead(RAW[fixture.name]!), body: recordedBytes(bytes) }
    const about = { model: ANY_MODEL, match: ['output.audio.mediaType'], streams: false, answer: whole }
    yield [`speech/any-${fixture.name}.json`, recording(fixture, about)]
    const stream = { ...about, streams: true, answer: speechStream(bytes) }
    yield [`speech/any-${fixture.name}-stream.json`, recording(fixture, stream)]
  }
  const hello = fixturesOf('speech').find(({ name }) => name === 'hello')!
  const named: Fixture = {
    ...hello,
    request: { ...hello.request, body: { ...hello.request.body, response_format: 'mp3' } },
  }
  const match = ['output.audio.mediaType']
  for (const streams of [true, false]) {
    const answer = answerOf(hello, streams)!
    yield [
      `speech/any-mp3${streams ? '-stream' : ''}.json`,
      recording(named, { model: ANY_MODEL, match, streams, answer }),
    ]
  }
  const message = 'response_format: there is no recording in this container here.'
  const error = { message, type: 'invalid_request_error', param: 'response_format', code: 'cannot_express' }
  const answer = { ...answerHead('application/json', 422), body: { json: { error } } }
  yield ['speech/any.json', recording(hello, { model: ANY_MODEL, match: [], streams: false, answer })]
}

/** Bytes of one event of a speech stream. A multiple of 3, so that each event is base64 by itself. */
const SPEECH_CHUNK = 24_000

function speechStream(bytes: Buffer): RecordedAnswer {
  const pieces = Array.from({ length: Math.ceil(bytes.length / SPEECH_CHUNK) }, (_, index) =>
    bytes.subarray(index * SPEECH_CHUNK, (index + 1) * SPEECH_CHUNK),
  )
  const events = [
    ...pieces.map(piece => ({ type: 'speech.audio.delta', audio: piece.toString('base64') })),
    { type: 'speech.audio.done', usage: { input_tokens: 14, output_tokens: 101, total_tokens: 115 } },
  ]
  const chunks = events.map((event, index) => ({ ms: PACE * (index + 1), text: `data: ${JSON.stringify(event)}\n\n` }))
  return { ...answerHead('text/event-stream'), chunks }
}

/** Lists the models in the shapes of all formats at once. */
function listOf(path: string, models: readonly string[]): Recording {
  const json = {
    object: 'list',
    data: models.map(id => ({ id, object: 'model', type: 'model', display_name: id, created: 0, owned_by: 'replay' })),
    models: models.map(id => ({ name: `models/${id}` })),
  }
  const request = { method: 'GET', path, headers: {} }
  return { ...HEAD, match: [], request, answer: { ...answerHead('application/json'), body: { json } } }
}

if (import.meta.main) {
  writeDemo()
  await writeExamples()
}

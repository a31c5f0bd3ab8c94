import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Work } from '../../../src/canonical/work.ts'
import { FORMAT_FACTS } from '../../../src/formats/formats.ts'
import { until } from '../../builders/time.ts'
import { FakeUpstream, type Script } from '../../builders/upstream.ts'
import { openVideoUpstream } from '../../video/upstreams/index.ts'
import { ScriptedUpstream } from '../../voice/upstream.ts'
import { userEnv } from '../checkout.ts'
import { CONVERSATION_CASES } from '../endpoints/conversations.ts'
import { formOf, WAV } from '../endpoints/media.ts'
import { finished } from '../endpoints/videos.ts'
import type { World } from '../endpoints.ts'
import { openConverse, openRealtime } from '../fakes.ts'
import type { Outcomes } from '../outcomes.ts'
import { Session, spokenTo } from '../session.ts'
import { Started } from '../started.ts'
import { runsFromBundle } from './bundle.ts'

const MP3 = Buffer.from('fffb90640000', 'hex')

/** Vendors of sound, with the fields of their answers that are read. */
const sounds: Script = (response, { url, headers }) => {
  const json = (body: object): void => void response.end(JSON.stringify(body))
  if (url.startsWith('/v1/text-to-speech/') && headers['xi-api-key'] === 'secret')
    return response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(MP3)
  response.setHeader('content-type', 'application/json')
  const text = 'The kettle is on.'
  if (url.startsWith('/v1/speech-to-text') && headers['xi-api-key'] === 'secret')
    return json({ language_code: 'en', text, words: [] })
  if (url.startsWith('/v1/listen') && headers.authorization === 'Token secret')
    return json({
      metadata: { duration: 1 },
      results: { channels: [{ alternatives: [{ transcript: text, words: [] }] }] },
    })
  response.writeHead(404)
  return json({})
}

/** Google's live sessions. Every turn gets the same answer. */
const openLive = () =>
  ScriptedUpstream.open(async connection => {
    await connection.until(1)
    connection.send({ setupComplete: {} })
    await connection.until(2)
    connection.send({ serverContent: { modelTurn: { parts: [{ text: 'Hello there.' }] } } })
    connection.send({ serverContent: { outputTranscription: { text: 'Hello there.' } } })
    connection.send({ serverContent: { generationComplete: true } })
    connection.send({ serverContent: { turnComplete: true } })
  })

/** Starts the demo as a separate server, with its own command, from the bundle. */
async function openReplay(checkout: string) {
  const home = mkdtempSync(join(tmpdir(), 'first-start-'))
  const words = ['start', '--silent', '--', 'replay', 'fixtures/demo', '--port', '0']
  const child: ChildProcess = spawn('npm', words, { cwd: checkout, env: userEnv(home), detached: true })
  let out = ''
  child.stdout!.on('data', piece => (out += piece))
  child.stderr!.on('data', piece => (out += piece))
  await until(() => / on http/.test(out) || child.exitCode !== null, 60_000)
  return {
    address: / on (http\S+)/.exec(out)![1]!,
    close: () => {
      process.kill(-child.pid!, 'SIGKILL')
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** Formats that the demo answers, because it has recordings of them. */
const REPLAYED = [
  ...[
    'chat',
    'responses',
    'messages',
    'contents',
    'interactions',
    'cohere-chat',
    'completions',
    'embeddings',
    'rerank',
    'cohere',
  ],
  ...['images', 'speech', 'transcriptions'],
]

/** Models of work that the demo does for only one model of a format, by format and work. */
const SPECIAL: { readonly [format: string]: { readonly [work: string]: string } } = {
  responses: { image: 'replay-responses-picture' },
  interactions: { image: 'replay-interactions-picture', speech: 'replay-interactions-speech' },
  contents: { image: 'replay-contents-picture', speech: 'replay-contents-speech' },
}

/** Returns the public name of a model that does the work in the format. */
const modelFor = (format: string, work: Work): string =>
  SPECIAL[format]?.[work] === undefined ? `model-of-${format}` : `${work}-of-${format}`

const VIDEO_KINDS = ['videos', 'veo', 'kling'] as const

/** Opens an upstream of every format, and channels to them with models named after them. */
async function openUpstreams(checkout: string) {
  const [replay, sound, live] = [await openReplay(checkout), await FakeUpstream.open(sounds), await openLive()]
  const [converse, realtime] = [await openConverse(), await openRealtime()]
  const videos = await Promise.all(VIDEO_KINDS.map(kind => openVideoUpstream(kind)))
  const channel = (format: string, base_url: string, more: object = {}) => ({
    ...{ name: format, provider: 'custom', formats: [format], base_url, key: 'secret' },
    models: { [`model-of-${format}`]: 'theirs', ...specialModels(format) },
    ...more,
  })
  const channels = [
    ...REPLAYED.map(format => channel(format, `${replay.address}/v1`)),
    channel('converse', converse.address),
    channel('realtime', `${realtime.url}/v1`),
    ...videos.map(({ channel: { key, formats } }) => channel(formats[0]!.format, formats[0]!.baseUrl, { key })),
    channel('elevenlabs', sound.address, { dialect: { voices: { alloy: 'theirs' }, default_voice: 'theirs' } }),
    channel('deepgram', sound.address),
    channel('live', live.url),
  ]
  const close = async (): Promise<void> => {
    replay.close()
    await Promise.all([
      sound.close(),
      live.close(),
      converse.close(),
      realtime.close(),
      ...videos.map(one => one.close()),
    ])
  }
  return { channels, close }
}

const specialModels = (format: string) =>
  Object.fromEntries(Object.entries(SPECIAL[format] ?? {}).map(([work, model]) => [`${work}-of-${format}`, model]))

type Step = (world: World) => Promise<void>

/** Cases for each kind of work, by name. */
const WORK: { readonly [W in Work]?: { readonly [name: string]: Step } } = {
  conversation: stepsOf('/v1/chat/completions', '/v1/responses', '/v1/messages', ':generateContent', '/converse'),
  completion: stepsOf('/v1/completions'),
  count: stepsOf('/v1/messages/count_tokens', '/v1/responses/input_tokens', ':countTokens', '/count-tokens'),
  compaction: stepsOf('/v1/responses/compact'),
  embedding: stepsOf('/v1/embeddings', '/v2/embed', ':embedContent'),
  ranking: stepsOf('/v1/rerank', '/v2/rerank'),
  image: {
    'POST /v1/images/generations': async ({ ask, model }) => {
      const { json } = await ask('/v1/images/generations', { body: { model, prompt: 'a small red square' } })
      assert.ok(json.data[0].b64_json.length > 50)
    },
  },
  speech: {
    'POST /v1/audio/speech': async ({ ask, model }) => {
      const { bytes, headers } = await ask('/v1/audio/speech', { body: { model, voice: 'alloy', input: 'hello' } })
      assert.equal(headers['content-type'], 'audio/mpeg')
      assert.ok(bytes.length > 0)
    },
  },
  transcription: {
    'POST /v1/audio/transcriptions': async ({ ask, model }) => {
      const { json } = await ask('/v1/audio/transcriptions', { body: formOf(['file', 'a.wav', WAV], { model }) })
      assert.match(json.text, /\w/)
    },
  },
  video: {
    'POST /v1/videos': async world => {
      const { ask, model } = world
      const { json } = await ask('/v1/videos', { body: { model, prompt: 'a boat', seconds: '4', size: '1280x720' } })
      await finished(world, json.id)
      const { headers, bytes } = await ask(`/v1/videos/${json.id}/content`)
      assert.deepEqual([headers['content-type'], bytes.length > 1000], ['video/mp4', true])
    },
  },
  realtime: {
    'GET /v1/realtime': async ({ address, key, model }) => {
      const session = new Session(address, { key, path: `/v1/realtime?model=${model}` })
      try {
        assert.match(await spokenTo(session), /\w/)
      } finally {
        session.close()
      }
    },
  },
}

/** Returns the cases of endpoints whose paths end this way, whole and streamed. */
function stepsOf(...ends: string[]): { readonly [name: string]: Step } {
  const found = Object.entries(CONVERSATION_CASES).filter(([name]) => ends.some(end => name.endsWith(end)))
  return Object.fromEntries(
    found.flatMap(([name, steps]): [string, Step][] =>
      typeof steps === 'function'
        ? [[name, steps]]
        : Object.entries(steps).map(([way, step]): [string, Step] => [`${name}, ${way}`, step]),
    ),
  )
}

/**
 * Tests upstreams of every format in every kind of work that the tables list for it, requested in the callers' formats.
 */
export async function upstreams(outcomes: Outcomes, checkout: string): Promise<void> {
  const { channels, close } = await openUpstreams(checkout)
  const config = { channels, media: { allow: ['127.0.0.0/8'] }, tasks: { poll: '1s' } }
  const started = await Started.open(checkout, config).catch(async thrown => {
    await close()
    throw thrown
  })
  try {
    const { ask, address, key } = started
    await outcomes.try('the bundle runs', () => runsFromBundle(started.administrator()))
    for (const [format, { does }] of FORMAT_FACTS)
      for (const work of does)
        for (const [name, step] of Object.entries(WORK[work] ?? { [work]: unknown }))
          await outcomes.try(`${work} of ${format}: ${name}`, () =>
            step({ ask, address, key, model: modelFor(format, work), made: new Map() }),
          )
    await outcomes.try('it stops in order', () => started.stop())
  } finally {
    await started.kill()
    await close()
  }
}

const unknown: Step = () => Promise.reject(new Error('the work has no case'))

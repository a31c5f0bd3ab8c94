import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Bounds } from '../../../src/kit/conformance/client.ts'
import { html } from '../../../src/kit/conformance/report/html.ts'
import { resultsOf } from '../../../src/kit/conformance/report/results.ts'
import { run } from '../../../src/kit/conformance/run.ts'
import { readScenario } from '../../../src/kit/conformance/scenario.ts'

/* Bad answers about media are verdicts: never a fault of the kit, never a report without bounds. */

const BOUNDS: Bounds = { total: 15_000, idle: 5000, bytes: 32 * 1024 * 1024 }
const JSON_TYPE = { 'content-type': 'application/json' }
const STREAM = { 'content-type': 'text/event-stream' }

const json = (value: unknown) => (reply: ServerResponse) => reply.writeHead(200, JSON_TYPE).end(JSON.stringify(value))
const bytes = (type: string, body: Buffer | string) => (reply: ServerResponse) =>
  reply.writeHead(200, { 'content-type': type }).end(body)
const events =
  (...values: readonly unknown[]) =>
  (reply: ServerResponse) =>
    reply.writeHead(200, STREAM).end(values.map(value => `data: ${JSON.stringify(value)}\n\n`).join(''))

type Behaviour = (reply: ServerResponse, message: IncomingMessage) => void

const RUBBISH = Buffer.alloc(200_000, 0xfe)
const VIDEO = {
  object: 'video',
  model: 'm',
  status: 'queued',
  progress: 0,
  created_at: 1,
  seconds: '4',
  size: '720x1280',
}

/** Hostile answers: the cell, the answer, and a rule that must fail, if any. */
type Case = readonly [says: string, cell: string, answer: Behaviour, rule: string | undefined]

const ANSWERS: readonly Case[] = [
  [
    'speech without a content type',
    'elevenlabs.speech/speech-voice-id/stream',
    reply => reply.writeHead(200).end(RUBBISH),
    'answer.http.content-type',
  ],
  [
    'images of 20 MB of no image',
    'images/images/whole',
    json({ created: 1, data: [{ b64_json: 'A'.repeat(20_000_000) }] }),
    'answer.image-is-format',
  ],
  [
    '100,000 images',
    'images/images/whole',
    json({ created: 1, data: Array(100_000).fill({}) }),
    'answer.image-present',
  ],
  [
    'images that are texts and numbers',
    'images/images/whole',
    json({ created: 1, data: ['a', 1, null, [[]]] }),
    'answer.schema',
  ],
  [
    'usage that is no object',
    'images/images/whole',
    json({ created: 1, data: [{ url: 'x' }], usage: [1] }),
    'answer.schema',
  ],
  ['a web page for images', 'images/images-edit-form/whole', bytes('text/html', '<html>'), 'answer.http.content-type'],
  [
    'partial images with absurd indexes',
    'images/images-previews/stream',
    events({ type: 'image_generation.partial_image', partial_image_index: 1e308, b64_json: 7 }),
    'stream.preview-index',
  ],
  [
    'a stream of images of rubbish',
    'images/images-previews/stream',
    bytes('text/event-stream', RUBBISH),
    'stream.sse.utf8',
  ],
  ['sound that is empty', 'speech/speech/whole', bytes('audio/mpeg', ''), 'answer.sound-present'],
  ['sound that is rubbish', 'speech/speech-wav/whole', bytes('audio/wav', RUBBISH), 'answer.sound-is-format'],
  ['a web page for sound', 'speech/speech/whole', bytes('text/html', '<html>'), 'answer.http.content-type'],
  [
    'sound that never ends',
    'speech/speech/whole',
    reply => {
      const more = (): void => {
        while (!reply.destroyed && reply.write(RUBBISH));
        if (!reply.destroyed) reply.once('drain', more)
      }
      more.call(reply.writeHead(200, { 'content-type': 'audio/mpeg' }))
    },
    'answer.http.too-large',
  ],
  [
    'deltas of sound that are no base64',
    'speech/speech/stream',
    events({ type: 'speech.audio.delta', audio: '%%%' }, { type: 'speech.audio.delta', audio: 5 }),
    'stream.base64',
  ],
  ['events of speech that are lists', 'speech/speech/stream', events([], 1, null), 'stream.json'],
  ['a transcript of rubbish', 'transcriptions/transcriptions-text/whole', bytes('text/plain', ' '), 'answer.plain'],
  [
    'subtitles of 3 MB of empty lines',
    'transcriptions/transcriptions-srt/whole',
    bytes('text/plain', 'x\n\n'.repeat(1_000_000)),
    'answer.subtitles',
  ],
  [
    'subtitles with times of many digits',
    'transcriptions/transcriptions-vtt/whole',
    bytes('text/plain', `WEBVTT\n\n${'9'.repeat(100_000)}:00:00.000 --> 1\nx`),
    'answer.subtitles',
  ],
  [
    '100,000 segments that go back',
    'transcriptions/transcriptions-segments/whole',
    json({ language: 'x', duration: -1, text: '', segments: Array(100_000).fill({ start: 2, end: 1 }) }),
    'answer.schema',
  ],
  [
    'a transcript that goes on after its end',
    'transcriptions/transcriptions/stream',
    events({ type: 'transcript.text.done', text: 'a' }, { type: 'transcript.text.delta', delta: 'b' }),
    'stream.done',
  ],
  [
    'log probabilities that are no list',
    'transcriptions/transcriptions-logprobs/stream',
    events({ type: 'transcript.text.delta', delta: {}, logprobs: 'a' }),
    'stream.schema',
  ],
  ['a video that is never finished', 'videos/videos-failed/whole', json({ ...VIDEO, id: 'v' }), undefined],
  ['a video without an id', 'videos/videos-state/whole', json(VIDEO), 'answer.id'],
  ['a video whose id is an object', 'videos/videos-state/whole', json({ ...VIDEO, id: { a: 1 } }), 'answer.id'],
  [
    'a video whose id changes the path',
    'videos/videos-state/whole',
    json({ ...VIDEO, id: '../../models?a=b#c' }),
    undefined,
  ],
  [
    'a video with a broken escape in its id',
    'videos/videos-state/whole',
    json({ ...VIDEO, id: '%E0%A4%A' }),
    undefined,
  ],
  [
    'a video of an unknown state',
    'videos/videos-state/whole',
    json({ ...VIDEO, id: 'v', status: 'exploded', error: 5 }),
    'answer.schema',
  ],
]

describe('a target that answers with', () => {
  let answer: Behaviour
  const server = createServer((message, reply) => {
    message.resume()
    message.once('end', () => answer(reply, message))
  })
  beforeAll(() => new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve)))
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  test.each(ANSWERS)(
    '%s gets a verdict',
    async (_, cell, behaviour, rule) => {
      answer = behaviour
      const [format = '', scenario = ''] = cell.split('/')
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
      const target = { name: 'hostile', bases: { [format]: url }, key: 'k', model: () => 'm', translates: true }
      const [result] = await run({
        target,
        scenarios: [readScenario(scenario)],
        callers: [format],
        only: cell,
        bounds: BOUNDS,
      })
      const failed = result!.checks.filter(({ status }) => status === 'fail' || status === 'harness-error')
      if (rule === undefined) expect(failed).toEqual([])
      else expect(failed.map(one => one.rule)).toContain(rule)
      expect(failed.filter(({ status }) => status === 'harness-error')).toEqual([])
      const document = resultsOf([result!], {
        kit: '1',
        started: new Date(0),
        target,
        command: 'interlingua conformance',
      })
      expect(JSON.stringify(document).length).toBeLessThan(2_000_000)
      expect(html(document).length).toBeLessThan(4_000_000)
    },
    40_000,
  )
})

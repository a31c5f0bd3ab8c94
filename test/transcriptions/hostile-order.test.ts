import { describe, expect, test } from 'vitest'
import { readSubtitles, writeSubtitles } from '../../src/canonical/media/subtitles.ts'
import { channelAt, configOf } from '../builders/config.ts'
import { dataOf, formOf } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'
import { pause, until } from '../builders/time.ts'
import type { Script } from '../builders/upstream.ts'
import { type Piece, upload } from './upload.ts'

/*
 * Transcriptions in any other order: fields of the form, events of the stream, segments and words; and callers, keys and
 * upstreams that act in the middle of an upload.
 */

const { openGateway, openUpstream } = opener()

const PATH = '/v1/audio/transcriptions'
const FILE: Piece = { name: 'file', file: 'a.mp3', size: 5000 }
const field = (name: string, value: string): Piece => ({ name, value })

const json =
  (body: object): Script =>
  response =>
    void response.setHeader('content-type', 'application/json').end(JSON.stringify(body))

const permutations = <T>(items: readonly T[]): T[][] =>
  items.length < 2
    ? [[...items]]
    : items.flatMap((item, at) => permutations(items.toSpliced(at, 1)).map(rest => [item, ...rest]))

const SEGMENTS = [
  { id: 0, start: 0, end: 1, text: 'One.' },
  { id: 1, start: 1, end: 2, text: 'Two.' },
  { id: 2, start: 2, end: 3, text: 'Three.' },
]

describe('the fields of a form', () => {
  const FIELDS = [FILE, field('model', 'm'), field('response_format', 'srt'), field('language', 'de')]

  test('mean the same in every order', async () => {
    const upstream = await openUpstream(response =>
      response.setHeader('content-type', 'text/plain').end(writeSubtitles(SEGMENTS, 'srt')),
    )
    const gateway = await openGateway([channelAt(upstream.address, { format: 'transcriptions' })])
    const answers = new Set<string>()
    const forms = new Set<string>()
    for (const pieces of permutations(FIELDS)) {
      const { status, text } = await upload(gateway.server.address, PATH, pieces)
      answers.add(`${status} ${text}`)
      const form = [...(await formOf(upstream.seen.at(-1)!))]
      const told = form.map(
        ([name, value]) => `${name}=${typeof value === 'string' ? value : `${value.name} ${value.size}`}`,
      )
      forms.add(told.sort().join('&'))
    }
    expect([...answers]).toEqual([`200 ${writeSubtitles(SEGMENTS, 'srt')}`])
    expect([...forms]).toEqual(['file=a.mp3 5000&language=de&model=m&response_format=srt'])
  })

  test('count behind a large file as before it, and lists keep their order', async () => {
    const upstream = await openUpstream(
      json({ text: 'Hello.', task: 'transcribe', language: 'german', duration: 3, segments: SEGMENTS, words: [] }),
    )
    const gateway = await openGateway([channelAt(upstream.address, { format: 'transcriptions' })])
    const large = { ...FILE, size: 6_000_000 } as Piece
    const details = [
      field('timestamp_granularities[]', 'word'),
      field('timestamp_granularities[]', 'segment'),
      field('response_format', 'verbose_json'),
    ]
    for (const pieces of [
      [field('model', 'm'), ...details, large],
      [field('model', 'm'), large, ...details],
      [field('model', 'm'), details[0]!, large, details[1]!, details[2]!],
    ]) {
      const { status, json: answer } = await upload(gateway.server.address, PATH, pieces)
      expect([status, answer.segments.length]).toEqual([200, 3])
      const form = await formOf(upstream.seen.at(-1)!)
      expect(form.getAll('timestamp_granularities[]')).toEqual(['word', 'segment'])
    }
  })
})

describe('the events of a stream', () => {
  const DELTAS = ['Hel', 'lo.'].map(delta => ({ type: 'transcript.text.delta', delta }))
  const DONE = { type: 'transcript.text.done', text: 'Hello.' }
  const segment = (at: number) => ({ type: 'transcript.text.segment', ...SEGMENTS[at]!, id: `seg_${at}`, speaker: 'A' })
  const USAGE = { type: 'usage', usage: { input_tokens: 1 } }

  async function streamed(events: readonly object[]) {
    const upstream = await openUpstream(response =>
      response
        .setHeader('content-type', 'text/event-stream')
        .end(events.map(event => `data: ${JSON.stringify(event)}\n\n`).join('')),
    )
    const gateway = await openGateway([channelAt(upstream.address, { format: 'transcriptions' })])
    const { status, text } = await upload(gateway.server.address, PATH, [
      field('model', 'm'),
      field('stream', 'true'),
      FILE,
    ])
    expect(gateway.lines.filter(({ level }) => level === 'error')).toEqual([])
    return {
      status,
      events: dataOf(text)
        .filter(data => data !== '[DONE]')
        .map(data => JSON.parse(data)),
    }
  }

  test.each<[string, readonly object[]]>([
    ['its end first', [DONE, ...DELTAS]],
    ['two ends', [...DELTAS, DONE, DONE]],
    ['deltas behind its end', [DELTAS[0]!, DONE, DELTAS[1]!]],
    ['segments behind its end', [...DELTAS, DONE, segment(0)]],
    ['segments in reverse', [segment(2), segment(1), segment(0), ...DELTAS, DONE]],
    ['an error behind its end', [...DELTAS, DONE, { type: 'error', error: { message: 'late', type: 'server_error' } }]],
    ['unknown events anywhere', [USAGE, DELTAS[0]!, USAGE, DELTAS[1]!, DONE, USAGE]],
  ])('with %s are one transcript with one end, which is last', async (_, sent) => {
    const { status, events } = await streamed(sent)
    expect(status).toBe(200)
    const types = events.map(({ type }) => type ?? 'error')
    expect(types.filter(type => type === 'transcript.text.done')).toHaveLength(1)
    expect(types.at(-1)).toBe('transcript.text.done')
    expect(events.at(-1).text).toBe('Hello.'.startsWith(events.at(-1).text) ? events.at(-1).text : 'Hello.')
    const spoken = events.filter(({ type }) => type === 'transcript.text.delta').map(({ delta }) => delta)
    expect(spoken.join('')).toBe(events.at(-1).text)
  })

  test.each<[string, readonly object[]]>([
    ['without an end', DELTAS],
    [
      'with an error before its end',
      [DELTAS[0]!, { type: 'error', error: { message: 'no', type: 'server_error' } }, DONE],
    ],
  ])('%s end with an error and no end', async (_, sent) => {
    const { events } = await streamed(sent)
    expect(events.at(-1).error).toBeDefined()
    expect(events.some(({ type }) => type === 'transcript.text.done')).toBe(false)
  })
})

describe('segments of a transcript', () => {
  test.each(['srt', 'vtt'] as const)('in any order are cues in the order of their beginnings as %s', style => {
    const expected = writeSubtitles(SEGMENTS, style)
    for (const segments of permutations(SEGMENTS)) expect(writeSubtitles(segments, style)).toBe(expected)
  })

  test.each(['srt', 'vtt'] as const)(
    'that end before they begin, or begin nowhere, are cues that players can read as %s',
    style => {
      const strange = [
        { start: 5, end: 3, text: 'backwards' },
        { start: -1, end: 1, text: 'before the beginning' },
        { start: Number.POSITIVE_INFINITY, end: 0, text: 'never' },
        { start: 2, end: 2, text: 'at once' },
      ]
      const read = readSubtitles(writeSubtitles(strange, style))
      expect(read).toHaveLength(4)
      expect(read.filter(({ start, end }) => end < start)).toEqual([])
      const starts = read.map(({ start }) => start)
      expect(starts).toEqual([...starts].sort((a, b) => a - b))
    },
  )

  test('of speakers one after another are cues in the order of time for a caller that asks for subtitles', async () => {
    const [one, two, three] = SEGMENTS.map((segment, at) => ({ ...segment, speaker: at === 1 ? 'B' : 'A' }))
    const upstream = await openUpstream(
      json({ text: 'One. Three. Two.', segments: [one, three, two], duration: 3, language: 'en' }),
    )
    const gateway = await openGateway([
      channelAt(upstream.address, { format: 'transcriptions', dialect: { transcript_shapes: 'json' } }),
    ])
    const { text } = await upload(gateway.server.address, PATH, [
      field('model', 'm'),
      field('response_format', 'srt'),
      FILE,
    ])
    expect(readSubtitles(text).map(segment => segment.start)).toEqual([0, 1, 2])
  })
})

describe('in the middle of an upload', () => {
  const LARGE: Piece = { name: 'file', file: 'a.mp3', size: 30_000_000 }
  const PIECES = [field('model', 'm'), LARGE]

  /** Uploads, and acts once when a third of the file was sent. */
  async function uploading(address: string, act: (destroy: () => void) => Promise<void> | void) {
    let hasActed = false
    return upload(address, PATH, PIECES, {
      between: (sent, out) => {
        if (hasActed || sent < 10_000_000) return undefined
        hasActed = true
        return Promise.resolve(act(() => out.destroy()))
      },
    })
  }

  test('a caller that leaves gives back its slot, and its upstream gets no end', async () => {
    const upstream = await openUpstream(json({ text: 'Hello.' }))
    const gateway = await openGateway([channelAt(upstream.address, { format: 'transcriptions' })], {
      group: { concurrent: 1 },
    })
    for (let round = 1; round <= 3; round++) {
      await expect(uploading(gateway.server.address, destroy => destroy())).rejects.toThrow()
      await until(() => gateway.lines.filter(({ message }) => message === 'request').length === round)
    }
    expect(upstream.seen).toEqual([])
    const { status } = await upload(gateway.server.address, PATH, [field('model', 'm'), FILE])
    expect(status).toBe(200)
    expect(gateway.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  test('a key that is taken away ends the request, and the upstream gets no whole form', async () => {
    const upstream = await openUpstream(json({ text: 'Hello.' }))
    const channel = channelAt(upstream.address, { format: 'transcriptions' })
    const gateway = await openGateway([channel])
    const outcome = await uploading(gateway.server.address, async () => {
      gateway.server.reload(configOf([channel], { config: { keys: [] } }))
      await pause(20)
    }).then(
      ({ status }) => status,
      () => 'closed',
    )
    expect([401, 'closed']).toContain(outcome)
    expect(upstream.seen).toEqual([])
  })

  test('two uploads of one caller with one slot are one answer and one refusal, whichever ends first', async () => {
    const upstream = await openUpstream(json({ text: 'Hello.' }))
    const gateway = await openGateway([channelAt(upstream.address, { format: 'transcriptions' })], {
      group: { concurrent: 1 },
    })
    const outcomes = await Promise.all(
      [0, 1].map(() =>
        upload(gateway.server.address, PATH, PIECES).then(
          ({ status }) => status,
          () => 429,
        ),
      ),
    )
    expect(outcomes.sort()).toEqual([200, 429])
    expect(upstream.seen).toHaveLength(1)
  })

  test('a config that changes the channel lets the upload end at the one where it began', async () => {
    const [first, second] = [await openUpstream(json({ text: 'first' })), await openUpstream(json({ text: 'second' }))]
    const channel = channelAt(first.address, { format: 'transcriptions' })
    const gateway = await openGateway([channel])
    const { json: answer } = await uploading(gateway.server.address, async () => {
      gateway.server.reload(configOf([channelAt(second.address, { format: 'transcriptions' })]))
      await pause(20)
    })
    expect([answer.text, first.seen.length, second.seen.length]).toEqual(['first', 1, 0])
  })
})

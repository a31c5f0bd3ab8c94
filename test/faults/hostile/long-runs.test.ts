import { expect, test } from 'vitest'
import { readSubtitles, writeSubtitles } from '../../../src/canonical/media/subtitles.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { transcriptOfChat } from '../../../src/ingress/media/transcription-by-chat.ts'
import { json } from '../../builders/chat.ts'
import { opener } from '../../builders/opener.ts'
import { REQUEST } from '../../builders/requests.ts'
import { TIMED } from '../../builders/time.ts'

/* Long runs of one sign, which make an expression that looks for the end of a text search it again and again. */

const { open } = opener()
const RUN = 100_000

/** Expects work to take no quadratic time: that of a run this long would be minutes. */
async function inAMoment(work: () => unknown): Promise<void> {
  const start = performance.now()
  await work()
  expect(performance.now() - start).toBeLessThan(1500)
}

test.each(['.', ' ', ': ', '\n'])('instructions for speech with very many %j hold up nobody', TIMED, async sign => {
  const { testServer } = await open(
    response =>
      json(response, {
        candidates: [
          {
            content: { parts: [{ inlineData: { mimeType: 'audio/L16;rate=24000', data: 'AAAA' } }] },
            finishReason: 'STOP',
          },
        ],
      }),
    {},
    { format: 'contents' },
  )
  const body = {
    model: 'm',
    input: 'Hi',
    voice: 'Kore',
    response_format: 'wav',
    instructions: `Say${sign.repeat(RUN)}x`,
  }
  await inAMoment(() => testServer.ask('/v1/audio/speech', body))
})

test('a path of the console with very many dots holds up nobody', TIMED, async () => {
  const { testServer } = await open(() => {})
  await testServer.ask('/console/', undefined, { method: 'GET' })
  const path = `/console/${'.'.repeat(30_000)}/`
  const start = performance.now()
  await Promise.all(Array.from({ length: 10 }, () => testServer.ask(path, undefined, { method: 'GET' })))
  expect(performance.now() - start).toBeLessThan(400)
})

test.each(['<', '<v ', '<v.a', ' ', '\t\n', '<v a', '&lt', '\r'])(
  'subtitles with very many %j are read and written in a moment',
  TIMED,
  async sign => {
    const run = sign.repeat(RUN)
    await inAMoment(() => readSubtitles(`WEBVTT\n\n00:00.000 --> 00:01.000\n<v Ann>a${run}b\n`))
    await inAMoment(() => writeSubtitles([{ start: 0, end: 1, text: `a${run}b`, speaker: 'Ann' }], 'vtt'))
  },
)

test('subtitles keep their text, speakers and lines', () => {
  const text =
    'WEBVTT\n\n00:00.000 --> 00:01.000\n<v.loud Ann B.><b>Hello</b>\n<i>there</i> 1 < 2\n\n00:01.000 --> 00:02.000\n<v  Bob >Yes.</v>\n'
  expect(readSubtitles(text)).toEqual([
    { start: 0, end: 1, text: 'Hello\nthere 1 < 2', speaker: 'Ann B.' },
    { start: 1, end: 2, text: 'Yes.', speaker: 'Bob' },
  ])
  const written = writeSubtitles([{ start: 0, end: 1, text: ' a \r\n\r\n \t b\n\nc ' }], 'srt')
  expect(written).toBe('1\n00:00:00,000 --> 00:00:01,000\na\nb\nc\n\n')
})

test.each([' ', '\n', '```', '``` ', '`'])(
  'a transcript of a chat model between very many %j is read in a moment',
  TIMED,
  async sign => {
    const text = `\`\`\`json${sign.repeat(RUN)}{"text":"a"}${sign.repeat(RUN)}x`
    const request = {
      ...REQUEST,
      output: { transcript: { task: 'transcribe', timestamps: ['segment'] } },
    } as CanonicalRequest
    await inAMoment(() => transcriptOfChat({ candidates: [{ content: [{ type: 'text', text }] }] }, request))
  },
)

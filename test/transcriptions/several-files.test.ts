import { describe, expect, test } from 'vitest'
import { wavHeader } from '../../src/canonical/media/wav.ts'
import { KEY } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'

/* Forms with more than one recording. Only a conversation has room for all of them. */

const { open } = opener()

const recording = (bytes: number): Blob => {
  const wav = Buffer.concat([wavHeader({ rate: 24_000, channels: 1 }, bytes), Buffer.alloc(bytes, 1)])
  return new Blob([wav], { type: 'audio/wav' })
}

async function transcribe(format: string, answer: object, secondSize: number) {
  const { testServer, upstream } = await open(
    response => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer)),
    {},
    { format },
  )
  const form = new FormData()
  form.append('file', recording(4800), 'first.wav')
  form.append('model', 'm')
  form.append('file', recording(secondSize), 'second.wav')
  const url = `${testServer.server.address}/v1/audio/transcriptions`
  const { status } = await fetch(url, { method: 'POST', body: form, headers: { authorization: `Bearer ${KEY}` } })
  return { status, seen: upstream.seen }
}

const CHAT = { choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] }
const DEEPGRAM = { results: { channels: [{ alternatives: [{ transcript: 'Hi' }] }] } }

describe.each([100, 5_000_000])('a second recording of %d bytes', size => {
  test.each([
    ['deepgram', DEEPGRAM],
    ['elevenlabs', { text: 'Hi', language_code: 'en' }],
  ])('is not dropped silently for %s', async (format, answer) => {
    expect(await transcribe(format, answer, size)).toEqual({ status: 422, seen: [] })
  })

  test('reaches an upstream that gets recordings in a conversation', async () => {
    const { status, seen } = await transcribe('chat', CHAT, size)
    expect(status).toBe(200)
    const { content } = JSON.parse(seen[0]!.text).messages.at(-1)
    expect(content.filter(({ type }: { type: string }) => type === 'input_audio')).toHaveLength(2)
  })
})

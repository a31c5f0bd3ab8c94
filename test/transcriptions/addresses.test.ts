import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { wavHeader } from '../../src/canonical/media/wav.ts'
import { KEY } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'

/* Recordings that a caller names by an address, as Groq's clients do. */

const { open } = opener()

const RECORDING = Buffer.concat([wavHeader({ rate: 8000, channels: 1 }, 1600), Buffer.alloc(1600, 1)])

/** Serves the recording at an address of this machine. */
async function recordingAddress(): Promise<string> {
  const server = createServer((_, response) => response.writeHead(200, { 'content-type': 'audio/wav' }).end(RECORDING))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.wav`
}

async function transcribe(format: string, answer: object, fields: { readonly [name: string]: string }, file?: Blob) {
  const { testServer, upstream } = await open(
    response => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer)),
    { allow: ['127.0.0.0/8'] },
    { format },
  )
  const form = new FormData()
  for (const [name, value] of Object.entries({ model: 'm', ...fields })) form.append(name, value)
  if (file !== undefined) form.append('file', file, 'a.wav')
  const url = `${testServer.server.address}/v1/audio/transcriptions`
  const sent = await fetch(url, { method: 'POST', body: form, headers: { authorization: `Bearer ${KEY}` } })
  return { status: sent.status, json: await sent.json(), seen: upstream.seen }
}

test.each([
  ['transcriptions', { text: 'Hi' }],
  ['elevenlabs', { text: 'Hi', language_code: 'en' }],
  ['deepgram', { results: { channels: [{ alternatives: [{ transcript: 'Hi' }] }] } }],
])('the recording at an address reaches %s as a file', async (format, answer) => {
  const { status, json, seen } = await transcribe(format, answer, { url: await recordingAddress() })
  expect(status).toBe(200)
  expect(json).toMatchObject({ text: 'Hi' })
  expect(seen[0]!.text).toContain('WAVE')
  expect(seen[0]!.text).not.toContain('name="url"')
})

test('the recording at an address of Mistral’s clients reaches the upstream as a file, with their other fields', async () => {
  const fields = { file_url: await recordingAddress(), diarize: 'true' }
  const { status, seen } = await transcribe('transcriptions', { text: 'Hi' }, fields)
  expect(status).toBe(200)
  expect(seen[0]!.text).toContain('WAVE')
  expect(seen[0]!.text).toContain('name="diarize"')
  expect(seen[0]!.text).not.toContain('name="file_url"')
})

test('an address beside a file is a field like others', async () => {
  const file = new Blob([RECORDING], { type: 'audio/wav' })
  const { status, seen } = await transcribe('transcriptions', { text: 'Hi' }, { url: 'http://127.0.0.1:9/b.wav' }, file)
  expect(status).toBe(200)
  expect(seen[0]!.text).toContain('name="url"')
})

test('an empty address is no recording', async () => {
  const { status, json, seen } = await transcribe('transcriptions', { text: 'Hi' }, { url: '' })
  expect(status).toBe(400)
  expect(json).toMatchObject({ error: { param: 'file' } })
  expect(seen).toEqual([])
})

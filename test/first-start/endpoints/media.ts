import assert from 'node:assert/strict'
import { eventsOf } from '../ask.ts'
import type { Cases } from '../endpoints.ts'

/** A PNG of one pixel. */
export const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** A tenth of a second of silence. */
export const WAV = wavOf(Buffer.alloc(3200))

function wavOf(samples: Buffer): Buffer {
  const head = Buffer.from('RIFF____WAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0data____', 'latin1')
  head.writeUInt32LE(36 + samples.length, 4)
  head.writeUInt32LE(samples.length, 40)
  return Buffer.concat([head, samples])
}

/** Returns a form with a file and fields. */
export function formOf(file: readonly [field: string, name: string, bytes: Buffer], fields: object): FormData {
  const [field, name, bytes] = file
  const form = new FormData()
  for (const [one, value] of Object.entries(fields)) form.set(one, String(value))
  form.set(field, new Blob([new Uint8Array(bytes)], { type: name.endsWith('.png') ? 'image/png' : 'audio/wav' }), name)
  return form
}

const isPicture = (base64: string): void => assert.match(base64, /^(?:iVBORw0KGgo|\/9j\/|UklGR)/)

/** Images are generated from a prompt, or from an image and a prompt. */
const edited = (fields: object): FormData => formOf(['image', 'dot.png', PIXEL], fields)

export const MEDIA_CASES: Cases = {
  'POST /v1/images/generations': {
    whole: async ({ ask, model, address }) => {
      const body = { model, prompt: 'a small red square' }
      isPicture((await ask('/v1/images/generations', { body })).json.data[0].b64_json)
      const { json } = await ask('/v1/images/generations', { body: { ...body, response_format: 'url' } })
      assert.ok(json.data[0].url.startsWith(`${address}/`))
      isPicture((await ask(json.data[0].url.slice(address.length))).bytes.toString('base64'))
    },
    streamed: async ({ ask, model }) => {
      const body = { model, prompt: 'a small red square', stream: true }
      const last = eventsOf(await ask('/v1/images/generations', { body })).at(-1)
      assert.equal(last.type, 'image_generation.completed')
      isPicture(last.b64_json)
    },
  },
  'POST /v1/images/edits': {
    whole: async ({ ask, model }) => {
      const body = edited({ model, prompt: 'make it green' })
      isPicture((await ask('/v1/images/edits', { body })).json.data[0].b64_json)
    },
    streamed: async ({ ask, model }) => {
      const body = edited({ model, prompt: 'make it green', stream: true })
      isPicture(eventsOf(await ask('/v1/images/edits', { body })).at(-1).b64_json)
    },
  },
  'POST /v1/images/variations': async ({ ask, model }) => {
    isPicture((await ask('/v1/images/variations', { body: edited({ model }) })).json.data[0].b64_json)
  },
  'POST /v1/audio/speech': {
    whole: async ({ ask, model }) => {
      const body = { model, voice: 'alloy', input: 'hello' }
      const mp3 = await ask('/v1/audio/speech', { body })
      assert.equal(mp3.headers['content-type'], 'audio/mpeg')
      assert.ok(mp3.bytes.length > 100)
      const wav = await ask('/v1/audio/speech', { body: { ...body, response_format: 'wav' } })
      assert.equal(wav.bytes.toString('latin1', 0, 4), 'RIFF')
    },
    streamed: async ({ ask, model }) => {
      const body = { model, voice: 'alloy', input: 'hello', stream_format: 'sse' }
      const events = eventsOf(await ask('/v1/audio/speech', { body }))
      assert.ok(events.some(({ audio }) => audio?.length > 100))
      assert.equal(events.at(-1).type, 'speech.audio.done')
    },
  },
  'POST /v1/audio/transcriptions': {
    whole: async ({ ask, model }) => {
      const { json } = await ask('/v1/audio/transcriptions', { body: formOf(['file', 'a.wav', WAV], { model }) })
      assert.match(json.text, /^The kettle is on\./)
    },
    streamed: async ({ ask, model }) => {
      const body = formOf(['file', 'a.wav', WAV], { model, stream: true })
      const last = eventsOf(await ask('/v1/audio/transcriptions', { body })).at(-1)
      assert.match(last.text, /^The kettle is on\./)
    },
  },
  'POST /v1/audio/translations': async ({ ask, model }) => {
    const { json } = await ask('/v1/audio/translations', { body: formOf(['file', 'a.wav', WAV], { model }) })
    assert.match(json.text, /\w/)
  },
}

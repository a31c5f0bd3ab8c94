import { expect, test } from 'vitest'
import { GatewayError } from '../../../../src/canonical/error.ts'
import { ClientReader } from '../../../../src/voice/formats/realtime/client-reader.ts'
import { clientLosses, writeClientEvent } from '../../../../src/voice/formats/realtime/client-writer.ts'
import { readDialect } from '../../../../src/voice/formats/realtime/dialect.ts'
import { writeError } from '../../../../src/voice/formats/realtime/errors.ts'

test.each(['no JSON', '', '[]', 'null'])('the error about the frame %j names no field', frame => {
  try {
    new ClientReader().read(frame)
    expect.unreachable()
  } catch (thrown) {
    expect(writeError((thrown as GatewayError).error)).toMatchObject({ code: 'invalid_json', param: null })
  }
})

test('an empty name of an upstream is none', () =>
  expect(writeError({ kind: 'invalid-request', message: 'No.', param: '' })).toMatchObject({ param: null }))

test('an unknown type is repeated as far as it is short', () => {
  const read = () => new ClientReader().read(JSON.stringify({ type: 'x'.repeat(1e6) }))
  expect(read).toThrow(GatewayError)
  expect(read).toThrow(/^.{1,200}$/)
})

test('an item of a type that only its vendor knows reaches the vendor as it was', () => {
  const content = [{ type: 'output_text', text: 'Welcome!' }]
  const item = { type: 'force_message', role: 'assistant', content }
  const event = new ClientReader().read(JSON.stringify({ type: 'conversation.item.create', item }))
  const written = JSON.parse(writeClientEvent(event, readDialect({ layout: 'mixed' }))!)
  expect(written.item).toEqual(item)
})

/* xAI's own names of a session's settings (docs/wire/realtime.md#xai). */
test('settings of OpenAI’s clients reach xAI under its own names, and their losses are reported', () => {
  const audio = {
    input: {
      transcription: { language: 'de', prompt: 'Tea' },
      turn_detection: { type: 'semantic_vad', eagerness: 'low' },
    },
    output: { voice: 'eve', speed: 1.2 },
  }
  const event = new ClientReader().read(
    JSON.stringify({ type: 'session.update', session: { type: 'realtime', audio } }),
  )
  const XAI = readDialect({ layout: 'mixed' })
  expect(JSON.parse(writeClientEvent(event, XAI)!).session).toEqual({
    voice: 'eve',
    turn_detection: { type: 'server_vad' },
    audio: { input: { transcription: { language_hint: 'de' } }, output: { speed: 1.2 } },
  })
  expect(clientLosses(event, XAI).map(({ reason }) => reason)).toEqual([
    'no-transcription-prompt',
    'no-semantic-detection',
    'no-semantic-detection',
  ])
})

test('the language that a client of xAI hints at reaches OpenAI, which refuses fields that it does not know', () => {
  const audio = { input: { transcription: { language_hint: 'de' } } }
  const event = new ClientReader().read(JSON.stringify({ type: 'session.update', session: { audio } }))
  const written = JSON.parse(writeClientEvent(event, readDialect({}))!)
  expect(written.session.audio.input.transcription).toEqual({ language: 'de' })
})

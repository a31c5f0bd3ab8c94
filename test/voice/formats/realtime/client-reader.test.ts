import { expect, test } from 'vitest'
import { GatewayError } from '../../../../src/canonical/error.ts'
import { ClientReader } from '../../../../src/voice/formats/realtime/client-reader.ts'
import { writeClientEvent } from '../../../../src/voice/formats/realtime/client-writer.ts'
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

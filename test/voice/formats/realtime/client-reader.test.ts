import { expect, test } from 'vitest'
import { GatewayError } from '../../../../src/canonical/error.ts'
import { ClientReader } from '../../../../src/voice/formats/realtime/client-reader.ts'
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

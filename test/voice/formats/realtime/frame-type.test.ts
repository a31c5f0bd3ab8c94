import { expect, test } from 'vitest'
import { deltaLength } from '../../../../src/voice/formats/realtime/frame-type.ts'

test('the length of a delta is known without parsing its frame', () => {
  const lengthOf = (frame: object | string) =>
    deltaLength(Buffer.from(typeof frame === 'string' ? frame : JSON.stringify(frame)))
  expect(lengthOf({ type: 'response.output_text.delta', delta: 'Hello', item_id: 'i' })).toBe(5)
  expect(lengthOf('{"type": "response.audio.delta", "delta": "AAAA"}')).toBe(4)
  expect(lengthOf({ delta: '{"city":"Paris"}' })).toBe('{\\"city\\":\\"Paris\\"}'.length)
  expect([lengthOf({ delta: '' }), lengthOf({ text: 'x' }), lengthOf('{"delta"'), lengthOf('{"delta":"x')]).toEqual([
    0, 0, 0, 0,
  ])
})

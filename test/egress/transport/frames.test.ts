import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { WireEvent } from '../../../src/canonical/wire.ts'
import { CHUNK_FRAMES, EVENT_FRAMES, frameOf } from '../../../src/egress/transport/frames.ts'
import type { Framing } from '../../../src/egress/transport/sse.ts'
import { openFrameParser } from '../../../src/ingress/transport/frames.ts'
import { frameBytes, framesIn } from '../../builders/frames.ts'

const EVENT: fc.Arbitrary<WireEvent> = fc.record({
  event: fc.constantFrom('messageStart', 'contentBlockDelta', 'throttlingException'),
  data: fc.string({ unit: 'binary' }).map(text => JSON.stringify({ text: text.toWellFormed() })),
})

const bytesOf = (framing: Framing, events: readonly WireEvent[]): Buffer =>
  Buffer.from(events.map(one => framing.frame(one, false)).join(''), 'latin1')

describe('binary frames', () => {
  test('are read back as the same events by the publisher’s codec', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(EVENT), async events => {
        const parser = await openFrameParser()
        expect([...parser.push(bytesOf(EVENT_FRAMES, events)), ...parser.end()]).toEqual(events)
      }),
    )
  })

  test('have the bytes of frames that were encoded by hand', () => {
    const data = '{"text":"grüße 🌍"}'
    for (const event of ['messageStop', 'validationException'])
      expect(frameOf({ event, data })).toEqual(frameBytes({ event, data }))
  })

  test('of chunks carry events in base64, and exceptions as they are', () => {
    const bytes = bytesOf(CHUNK_FRAMES, [
      { event: 'message_start', data: '{"type":"message_start","at":"ü"}' },
      { event: 'throttlingException', data: '{"message":"Slow down."}' },
    ])
    const [chunk, exception] = framesIn(bytes)
    expect(chunk).toMatchObject({ kind: 'event', name: 'chunk' })
    expect(JSON.parse(Buffer.from(chunk!.data.bytes, 'base64').toString())).toEqual({ type: 'message_start', at: 'ü' })
    expect(exception).toEqual({ kind: 'exception', name: 'throttlingException', data: { message: 'Slow down.' } })
  })

  test('of a silent stream are a type that clients skip', () => {
    const [frame] = framesIn(Buffer.from(EVENT_FRAMES.defaultHeartbeat, 'latin1'))
    expect(frame).toEqual({ kind: 'event', name: 'ping', data: {} })
  })
})

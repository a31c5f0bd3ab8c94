import { crc32 } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { WireEvent } from '../../../src/canonical/wire.ts'
import { openFrameParser } from '../../../src/ingress/transport/frames.ts'
import { frameBytes } from '../../builders/frames.ts'

const EVENTS: readonly WireEvent[] = [
  { event: 'messageStart', data: '{"role":"assistant"}' },
  { event: 'contentBlockDelta', data: '{"contentBlockIndex":0,"delta":{"text":"grüße 🌍"}}' },
  { event: 'contentBlockDelta', data: JSON.stringify({ delta: { text: 'x'.repeat(70_000) } }) },
  { event: 'throttlingException', data: '{"message":"Slow down."}' },
]
const BYTES = Buffer.concat(EVENTS.map(one => frameBytes(one)))

async function parse(bytes: Uint8Array, size = bytes.length, limit?: number) {
  const parser = await openFrameParser(limit)
  const events: WireEvent[] = []
  for (let at = 0; at < bytes.length; at += size) events.push(...parser.push(bytes.subarray(at, at + size)))
  events.push(...parser.end())
  return { events, overflowed: parser.overflowed }
}

const failed = (message: string): WireEvent => ({ event: 'error', data: JSON.stringify({ message }) })

describe('the parser of binary frames', () => {
  test('every cut size gives the same events', async () => {
    for (const size of [1, 2, 3, 7, 11, 12, 13, 64, 999, BYTES.length])
      expect((await parse(BYTES, size)).events).toEqual(EVENTS)
  })

  test('a damaged frame is an error after the frames before it, wherever the damage is', async () => {
    const first = frameBytes(EVENTS[0]!)
    for (let at = 4; at < first.length; at += 5) {
      const damaged = Buffer.concat([frameBytes(EVENTS[1]!), first, frameBytes(EVENTS[1]!)])
      damaged[frameBytes(EVENTS[1]!).length + at]! ^= 1
      expect((await parse(damaged, 17)).events).toEqual([EVENTS[1], failed('The upstream sent a damaged frame.')])
    }
  })

  test('a frame that was cut short is an error', async () => {
    for (const cut of [1, 5, 13, 40]) {
      const bytes = Buffer.concat([frameBytes(EVENTS[0]!), frameBytes(EVENTS[1]!).subarray(0, cut)])
      const { events } = await parse(bytes)
      expect(events).toEqual([EVENTS[0], failed('The upstream ended its answer within a frame.')])
    }
  })

  test('a length beyond the limit stops the parser', async () => {
    const { events, overflowed } = await parse(BYTES, 1000, 60_000)
    expect(events).toEqual(EVENTS.slice(0, 2))
    expect(overflowed).toBe(true)
  })

  test('a length below that of an empty frame is damage', async () => {
    const bytes = Buffer.alloc(32)
    bytes.writeUInt32BE(7)
    bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8)
    expect((await parse(bytes)).events).toEqual([failed('The upstream sent a damaged frame.')])
  })

  test('a frame of an error without an exception states its message', async () => {
    const bytes = frameBytes({ event: '', data: '' }, { ':message-type': 'error', ':error-message': 'Gone.' })
    expect((await parse(bytes)).events).toEqual([failed('Gone.')])
  })
})

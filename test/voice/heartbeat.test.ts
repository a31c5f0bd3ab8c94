import { describe, expect, test } from 'vitest'
import { Heartbeat } from '../../src/voice/heartbeat.ts'

const IDLE = { waits: false, isPaused: false }
const WAITING = { waits: true, isPaused: false }

/** The decisions of some heartbeats in a row; `between` runs after each. */
const beats = (heartbeat: Heartbeat, state: typeof IDLE, count: number, between = () => {}) =>
  Array.from({ length: count }, () => {
    const beat = heartbeat.next(state)
    between()
    return beat
  })

describe('a heartbeat', () => {
  test('gives a peer up after two pings without an answer', () => {
    expect(beats(new Heartbeat(), IDLE, 3)).toEqual(['ping', 'ping', 'gone'])
  })

  test('goes on while the peer answers', () => {
    const heartbeat = new Heartbeat()
    expect(new Set(beats(heartbeat, IDLE, 9, () => heartbeat.answered()))).toEqual(new Set(['ping']))
  })

  test('gives a peer up that takes nothing for two heartbeats, even if it sends messages', () => {
    const heartbeat = new Heartbeat()
    expect(beats(heartbeat, WAITING, 3, () => heartbeat.answered())).toEqual(['wait', 'wait', 'stalled'])
  })

  test('waits for a slow peer that takes something', () => {
    const heartbeat = new Heartbeat()
    expect(new Set(beats(heartbeat, WAITING, 9, () => heartbeat.onDrain()))).toEqual(new Set(['wait']))
  })

  test('does not ping a peer that is not read', () => {
    expect(new Set(beats(new Heartbeat(), { waits: false, isPaused: true }, 9))).toEqual(new Set(['wait']))
  })
})

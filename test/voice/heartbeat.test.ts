import { describe, expect, test } from 'vitest'
import { Heartbeat } from '../../src/voice/heartbeat.ts'

const peer = () => ({
  bufferedAmount: 0,
  pings: 0,
  isTerminated: false,
  ping() {
    this.pings++
  },
  terminate() {
    this.isTerminated = true
  },
})

describe('a heartbeat', () => {
  test('terminates a connection after two pings without an answer', () => {
    const heartbeat = new Heartbeat()
    const socket = peer()
    for (let beat = 0; beat < 3; beat++) heartbeat.ping(socket)
    expect(socket).toMatchObject({ pings: 2, isTerminated: true })
  })

  test('goes on while the upstream answers, or reads what is buffered', () => {
    const heartbeat = new Heartbeat()
    const socket = peer()
    for (let beat = 0; beat < 5; beat++) {
      heartbeat.ping(socket)
      heartbeat.answered()
    }
    socket.bufferedAmount = 1000
    for (let beat = 0; beat < 5; beat++) {
      heartbeat.ping(socket)
      socket.bufferedAmount -= 10
    }
    expect(socket).toMatchObject({ pings: 10, isTerminated: false })
  })
})

import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { WebSocket } from 'ws'
import { closeSocket, NORMAL } from '../../src/voice/closing.ts'

/** A socket whose peer reads as much of the waiting output as a test says. */
class FakeSocket extends EventEmitter {
  readonly readyState = 1
  readonly OPEN = 1
  readonly CONNECTING = 0
  readonly CLOSED = 3
  bufferedAmount: number
  resume = vi.fn()
  close = vi.fn()
  terminate = vi.fn()

  constructor(waiting: number) {
    super()
    this.bufferedAmount = waiting
  }
}

/** Closes a socket with output that waits. */
function closing(waiting: number): FakeSocket {
  const socket = new FakeSocket(waiting)
  closeSocket(socket as unknown as WebSocket, NORMAL, '')
  return socket
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a peer that reads slowly gets the rest of what was said before the close', () => {
  const socket = closing(10_000)
  while (socket.bufferedAmount > 0) {
    socket.bufferedAmount -= 1000
    vi.advanceTimersByTime(1000)
  }
  expect(socket.terminate).not.toHaveBeenCalled()
  vi.advanceTimersByTime(2000)
  expect(socket.terminate).toHaveBeenCalled()
})

test.each([0, 10_000])('a peer that reads nothing of %i bytes and does not answer is cut', waiting => {
  const socket = closing(waiting)
  vi.advanceTimersByTime(1000)
  expect(socket.terminate).toHaveBeenCalledOnce()
})

test('nothing runs on after the end', () => {
  const socket = closing(0)
  socket.emit('close')
  expect(vi.getTimerCount()).toBe(0)
})

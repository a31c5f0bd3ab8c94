import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { readJson } from '../../../src/ingress/transport/body.ts'
import { tick } from '../../builders/time.ts'

/** A request whose bytes arrive when the test sends them. */
class Coming extends EventEmitter {
  readonly headers = { 'content-type': 'application/json' }
  complete = false
  pause = vi.fn()
  unpipe = vi.fn()

  say(text: string): void {
    this.emit('data', Buffer.from(text))
  }

  end(): void {
    this.complete = true
    this.emit('end')
  }
}

const reading = (message: Coming) => readJson(message as unknown as IncomingMessage, 1000)
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

test('a missing body times out after five minutes', async () => {
  const message = new Coming()
  const body = reading(message)
  body.catch(() => {})
  message.say('{"a":')
  await tick()
  vi.advanceTimersByTime(299_000)
  expect(message.pause).not.toHaveBeenCalled()
  vi.advanceTimersByTime(2000)
  await expect(body).rejects.toMatchObject({ error: { kind: 'timed-out' } })
  expect(message.pause).toHaveBeenCalled()
})

test('a body that arrives with its head needs no timer, and a slower one clears its timer', async () => {
  const swift = new Coming()
  const body = reading(swift)
  swift.say('{"a":1}')
  swift.end()
  await tick()
  expect(vi.getTimerCount()).toBe(0)
  expect(await body).toEqual({ a: 1 })

  const slow = new Coming()
  const other = reading(slow)
  await tick()
  expect(vi.getTimerCount()).toBe(1)
  slow.say('{"b":2}')
  slow.end()
  expect(await other).toEqual({ b: 2 })
  expect(vi.getTimerCount()).toBe(0)
})

import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import type { Caller } from '../../../src/accounts/index.ts'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { matchedRoute } from '../../../src/formats/routes.ts'
import { NoReply } from '../../../src/gateway/caller-requests.ts'
import { Captures } from '../../../src/gateway/capture/captures.ts'
import { MAX_SHOWN_SIZE, Recording, SCRUB_MARGIN } from '../../../src/gateway/capture/recording.ts'
import type { Call } from '../../../src/gateway/index.ts'
import type { Log } from '../../../src/log.ts'
import { configOf } from '../../builders/config.ts'

const roomy = () => ({ bytesLeft: 1000 * MAX_SHOWN_SIZE })

test('a body that comes byte by byte takes no more memory than a large one', () => {
  const recording = new Recording(performance.now(), roomy())
  for (let at = 0; at < 100_000; at++) recording.take('x')
  expect(recording.pieces.length).toBe(20_000)
  expect(recording.recordedSize).toBe(20_000)
  expect(recording.size).toBe(100_000)
  expect(recording.isCut).toBe(true)
})

test('of a long body so many bytes are kept', () => {
  const recording = new Recording(performance.now(), roomy())
  const piece = Buffer.alloc(1024 * 1024)
  for (let at = 0; at < 100; at++) recording.take(piece)
  expect(recording.recordedSize).toBe(MAX_SHOWN_SIZE + SCRUB_MARGIN)
  expect(recording.pieces.reduce((sum, { content }) => sum + content.length, 0)).toBe(MAX_SHOWN_SIZE + SCRUB_MARGIN)
  expect(recording.size).toBe(100 * piece.length)
})

test('all bodies at once have so much room, and nothing is kept behind what was not', () => {
  const room = { bytesLeft: 10 }
  const [one, other] = [new Recording(performance.now(), room), new Recording(performance.now(), room)]
  one.take('12345678')
  other.take('abcd')
  expect([one.recordedSize, other.recordedSize, other.isCut, room.bytesLeft]).toEqual([8, 2, true, 0])
  one.release()
  other.take('e')
  expect([other.recordedSize, other.size, room.bytesLeft]).toEqual([2, 5, 8])
  one.take('late')
  other.release()
  expect([one.recordedSize, room.bytesLeft]).toEqual([0, 10])
})

test('requests that are written give the room of what was recorded of them back', async () => {
  const room = { bytesLeft: 100 }
  const documents: Uint8Array[] = []
  const records = { add: async ([{ data }]: [{ data: Uint8Array }]) => void documents.push(data) }
  const captures = new Captures({ records: records as never, log: {} as Log, config: () => configOf([]), budget: room })
  const body: JsonObject = { model: 'm', messages: [] }
  for (let round = 0; round < 5; round++) {
    const call: Call = {
      ...{ id: `req_${round}`, format: 'chat', path: '/v1/chat/completions', framing: 'events', body },
      message: { headers: {} } as IncomingMessage,
      ...{ route: matchedRoute('/v1/chat/completions')!.route, head: { headers: {}, query: {} } },
      reply: new NoReply(),
    }
    const caller = { id: 'k', key: 'dev', captureUntil: Number.POSITIVE_INFINITY } as Caller
    const capture = captures.begin(call, caller)!
    capture.recordBody(body, undefined)
    call.reply.whole(200, {}, 'x'.repeat(80))
    expect(room.bytesLeft).toBe(20)
    captures.end(capture, undefined)
    await captures.close()
    expect([room.bytesLeft, documents.length]).toEqual([100, round + 1])
  }
  expect(captures.dropped).toBe(0)
})

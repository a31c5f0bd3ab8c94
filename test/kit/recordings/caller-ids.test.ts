import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { Recording } from '../../../src/kit/recordings/recording.ts'
import { openReplay } from '../../../src/kit/recordings/replay-server.ts'
import { opener } from '../../builders/opener.ts'

/*
 * Frameworks of voice agents make up ids in each run, and wait for the upstream's messages that repeat them: pipecat and
 * LiveKit those of items, LiveKit also the name of each request for a response.
 */

const { closing } = opener()

/** Messages of a session, by sender. */
type Frame = readonly ['caller' | 'upstream', JsonObject]

/** A session that adds an item, continues after it, and requests a response. */
const session = (item: string, request: string, text = 'Hello'): readonly Frame[] => [
  ['upstream', { type: 'session.created', event_id: 'event_1' }],
  ['caller', { type: 'conversation.item.create', event_id: `create_${item}`, item: { id: item, text } }],
  ['upstream', { type: 'conversation.item.added', previous_item_id: null, item: { id: item, text } }],
  ['caller', { type: 'conversation.item.create', previous_item_id: item, item: { id: `${item}-2`, text: 'More' } }],
  ['upstream', { type: 'conversation.item.added', previous_item_id: item, item: { id: `${item}-2`, text: 'More' } }],
  ['caller', { type: 'response.create', response: { metadata: { client_event_id: request } } }],
  ['upstream', { type: 'response.created', response: { id: 'resp_1', metadata: { client_event_id: request } } }],
  ['caller', { type: 'conversation.item.delete', item_id: item }],
  ['upstream', { type: 'conversation.item.deleted', item_id: item }],
]

const recording = (frames: readonly Frame[]): Recording => ({
  ...{ version: 1, program: 'test', recorded_at: '2026-11-30T00:00:00.000Z', format: 'realtime' },
  request: { method: 'GET', path: '/v1/realtime', query: { model: 'm' }, headers: {} },
  session: {
    frames: frames.map(([from, message], index) => ({ ms: index, from, text: JSON.stringify(message) })),
    closed: { ms: frames.length, from: 'caller', code: 1000 },
  },
})

/** Returns the upstream's messages when a caller sends the messages of a session, each after the one before it. */
async function replayed(recorded: readonly Frame[], played: readonly Frame[]): Promise<readonly JsonObject[]> {
  const replay = await openReplay({ recordings: [{ file: 'session.json', recording: recording(recorded) }] })
  closing.push(() => replay.close())
  const socket = new WebSocket(`${replay.url.replace('http', 'ws')}/v1/realtime?model=m`)
  const answers: JsonObject[] = []
  const rest = played.flatMap(([from, message]) => (from === 'caller' ? [message] : []))
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('error', reject)
    socket.addEventListener('close', () => resolve())
    socket.addEventListener('message', ({ data }) => {
      answers.push(JSON.parse(String(data)) as JsonObject)
      const next = rest.shift()
      if (next === undefined) socket.close()
      else socket.send(JSON.stringify(next))
    })
  })
  return answers
}

const fromUpstream = (frames: readonly Frame[]): readonly JsonObject[] =>
  frames.flatMap(([from, message]) => (from === 'upstream' ? [message] : []))

test('ids that a framework makes up anew match the recorded ones, and the answers repeat them', async () => {
  const run = session('item_9f3c', 'response_create_77aa')
  expect(await replayed(session('item_0b1e', 'response_create_12ef'), run)).toEqual(fromUpstream(run))
})

test('other words under a new id are a miss', async () => {
  const [, missed] = await replayed(session('item_0b1e', 'r1'), session('item_9f3c', 'r2', 'Goodbye'))
  expect(missed).toMatchObject({ type: 'error', error: { code: 'no_recording' } })
})

test('an id in another place than when recorded is a miss', async () => {
  const recorded = session('item_0b1e', 'r1')
  const other = session('item_9f3c', 'r2').map(
    ([from, message]): Frame => [
      from,
      'previous_item_id' in message ? { ...message, previous_item_id: 'root' } : message,
    ],
  )
  expect((await replayed(recorded, other)).at(-1)).toMatchObject({ error: { code: 'no_recording' } })
})

import { expect, test } from 'vitest'
import { SocketReply } from '../../src/server/socket-reply.ts'

function replied(reportsLosses: boolean): string[] {
  const sent: string[] = []
  const wire = { send: (text: string) => sent.push(text) > 0, onceDrained: () => {}, cut: () => {} }
  const reply = new SocketReply({ wire, streamId: undefined, reportsLosses })
  reply.begin({})
  reply.write('{"type":"response.created"}\n')
  // As the gateway does: late losses are built only for replies that take them.
  if (reply.acceptsTrailers) reply.trailers = { 'interlingua-loss': 'a b; c d', 'interlingua-loss-count': '2' }
  reply.end('{"type":"response.completed"}\n')
  return sent.map(text => JSON.stringify(JSON.parse(text)))
}

test('losses of a streamed answer are an event at the end of a turn, for callers who want it', () => {
  const events = ['{"type":"response.created"}', '{"type":"response.completed"}']
  expect(replied(false)).toEqual(events)
  expect(replied(true)).toEqual([...events, '{"type":"interlingua.loss","losses":["a b","c d"],"count":2}'])
})

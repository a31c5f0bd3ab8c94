import { describe, expect, it } from 'vitest'
import { channelAt } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { FakeUpstream } from '../builders/upstream.ts'
import { bodyOf } from '../clients/stage.ts'
import { UPSTREAMS } from '../clients/upstreams/index.ts'

/* Threads of messages. Only an upstream that stores the conversation gets the new turns alone. */

const CREATE = { type: 'create' } as const
const GO_ON = { type: 'continue', previous_message_id: 'msg_1' } as const

const asked = (thread: object) => ({
  ...{ model: 'm', max_tokens: 9, thread },
  messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: '1' }] }],
})

/** Returns the answer of a gateway with upstreams of these formats and dialects, and the request of each upstream. */
async function ask(body: object, ...spoken: readonly [format: string, threads: boolean][]) {
  const upstreams = await Promise.all(
    spoken.map(([format]) =>
      FakeUpstream.open(response =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify(UPSTREAMS[format]!.whole({ text: 'Done.' }))),
      ),
    ),
  )
  const channels = spoken.map(([format, threads], index) => {
    const dialect = threads ? { threads } : {}
    return channelAt(upstreams[index]!.address, { format, dialect, name: `c${index}`, priority: index })
  })
  const testServer = await TestServer.open(channels)
  const answer = await testServer.ask('/v1/messages', body as never, { headers: { 'anthropic-version': '2023-06-01' } })
  await testServer.server.close(0)
  await Promise.all(upstreams.map(one => one.close()))
  return { answer, seen: upstreams.map(({ seen }) => seen.map(bodyOf)) }
}

describe('trap 94: threads', () => {
  it.each([CREATE, GO_ON])(
    '%o is refused where no upstream keeps any, so that all that was said is sent',
    async thread => {
      for (const format of ['chat', 'responses', 'contents', 'messages']) {
        const { answer, seen } = await ask(asked(thread), [format, false])
        expect(answer.status).toBe(400)
        expect(JSON.parse(answer.text)).toMatchObject({
          type: 'error',
          error: { type: 'invalid_request_error', details: { error_code: 'thread_unsupported_request' } },
        })
        expect(seen).toEqual([[]])
      }
    },
  )

  it.each([CREATE, GO_ON])('%o goes unchanged to an upstream that keeps them, whichever comes first', async thread => {
    const { answer, seen } = await ask(asked(thread), ['chat', false], ['messages', false], ['messages', true])
    expect(answer.status).toBe(200)
    expect(seen).toEqual([[], [], [asked(thread)]])
  })

  it('a request without one goes anywhere', async () => {
    const { thread: _, ...plain } = asked(CREATE)
    const { answer } = await ask({ ...plain, messages: [{ role: 'user', content: 'hi' }], thread: null }, [
      'chat',
      false,
    ])
    expect(answer.status).toBe(200)
  })
})

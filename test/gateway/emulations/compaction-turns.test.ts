import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { channelAt } from '../../builders/config.ts'
import { TestServer } from '../../builders/gateway.ts'
import { FakeUpstream } from '../../builders/upstream.ts'
import { UPSTREAMS } from '../../clients/upstreams/index.ts'
import { Client } from '../../sockets/client.ts'

describe.each(['chat', 'messages', 'contents', 'responses'])('kept turns before an upstream of %s', format => {
  const speaks = UPSTREAMS[format]!
  const keep = mkdtempSync(join(tmpdir(), 'interlingua-compaction-'))
  let upstream: FakeUpstream
  let testServer: TestServer

  beforeAll(async () => {
    let answers = 0
    upstream = await FakeUpstream.open((response, { url, text }) => {
      const body = JSON.parse(text)
      const streams = speaks.streams(url, body)
      const scene = { text: `Word ${answers}.` }
      const out = streams ? speaks.frames(scene).join('') : JSON.stringify(speaks.whole(scene))
      response.writeHead(200, { 'content-type': streams ? 'text/event-stream' : 'application/json' })
      response.end(out.replaceAll('resp_up', `resp_up_${format}_${answers++}`))
    })
    const formats = [{ ...channelAt(upstream.address, { format }).formats[0]!, dialect: { compaction: false } }]
    testServer = await TestServer.open([{ ...channelAt(upstream.address), formats }], { keep })
  })
  afterAll(async () => {
    await testServer.server.close(0)
    await upstream.close()
    rmSync(keep, { recursive: true, force: true })
  })

  const ask = (body: JsonObject, path = '/v1/responses') =>
    testServer.ask(path, { model: 'm', max_output_tokens: 500, ...body })
  const compact = (body: JsonObject) => testServer.ask('/v1/responses/compact', { model: 'm', ...body })
  /** The texts of the upstream's latest request. */
  const told = (): string =>
    speaks
      .hear(JSON.parse(upstream.seen.at(-1)!.text))
      .turns.map(({ text }) => text)
      .join('\n')

  it('are put in short by the id of the last', async () => {
    const first = (await ask({ input: 'My dog is Rex.' })).json
    const second = (await ask({ input: 'He is nine.', previous_response_id: first.id })).json
    const { status, json, text } = await compact({ previous_response_id: second.id, input: [] })
    expect(status, text).toBe(200)
    for (const said of ['My dog is Rex.', 'He is nine.']) expect(told()).toContain(said)
    expect(json.output.map((item: JsonObject) => item['type'])).toEqual(['message', 'message', 'compaction'])
  })

  it('that nobody kept are told by their name', async () => {
    const before = upstream.seen.length
    const { status, json } = await compact({ previous_response_id: 'resp_nobody' })
    expect(status).toBe(400)
    expect(json.error).toMatchObject({ code: 'previous_response_not_found', param: 'previous_response_id' })
    expect(upstream.seen.length).toBe(before)
  })

  it('that began with what was put in short go on from it', async () => {
    const { output } = (await compact({ input: 'My cat is Tom.' })).json
    const first = (await ask({ input: [...output, { role: 'user', content: 'Who is it?' }] })).json
    expect(first.status).toBe('completed')
    const { status } = await ask({ input: 'And how old?', previous_response_id: first.id })
    expect(status).toBe(200)
    if (format !== 'responses')
      expect(told()).toMatch(/<summary>\nWord \d+\.\n<\/summary>.*Who is it\?.*And how old\?/s)
    expect(upstream.seen.at(-1)!.text).not.toContain('il1.')
  })

  it('of a connection, too', async () => {
    const { output } = (await compact({ input: 'My cat is Tom.' })).json
    const client = await Client.open(testServer.server.address)
    const input = [...output, { role: 'user', content: 'Who is it?' }]
    const first = (await client.turn({ input, store: false, max_output_tokens: 500 })).at(-1).response
    const more = { previous_response_id: first.id, input: 'And how old?', store: false }
    expect((await client.turn(more)).at(-1).type).toBe('response.completed')
    expect(told()).toMatch(/<summary>\nWord \d+\.\n<\/summary>.*Who is it\?.*And how old\?/s)
    await client.close()
  })

  it('that were kept are gone on from over a connection', async () => {
    const first = (await ask({ input: 'My bird is Pip.' })).json
    const client = await Client.open(testServer.server.address)
    const end = (await client.turn({ previous_response_id: first.id, input: 'Who is it?' })).at(-1)
    if (format !== 'responses') expect(end.response.previous_response_id).toBe(first.id)
    else expect(JSON.parse(upstream.seen.at(-1)!.text).previous_response_id).toBe(first.id)
    const next = await ask({ input: 'Sure?', previous_response_id: end.response.id })
    expect(next.status).toBe(200)
    if (format !== 'responses') expect(told()).toContain('My bird is Pip.')
    await client.close()
  })
})

import { describe, expect, test } from 'vitest'
import { configOf } from '../../builders/config.ts'
import { opener } from '../../builders/opener.ts'
import { pause, until } from '../../builders/time.ts'
import type { Script } from '../../builders/upstream.ts'
import { channelFor, EACH, headersOf, STREAMED } from './exchanges.ts'

/* Callers that leave, keys that are taken away and upstreams that answer at the same moment, at every endpoint. */

const { openGateway, openUpstream } = opener()

describe.each(EACH)('a caller of %s', (_, row) => {
  const send = { headers: headersOf(row) }

  test('that leaves while its upstream works gives back its slot, and its upstream is told', async () => {
    const upstream = await openUpstream(() => {})
    const gateway = await openGateway([channelFor(row, upstream.address)], { group: { concurrent: 1 } })
    for (let round = 1; round <= 3; round++) {
      const { out, answer } = gateway.send(row.path, row.body, send)
      out.on('error', () => {})
      answer.catch(() => {})
      await until(() => upstream.seen.length === round)
      expect((await gateway.ask(row.path, row.body, send)).status).toBe(429)
      out.destroy()
      await until(() => upstream.seen[round - 1]!.brokenAt !== undefined)
    }
    upstream.script = response =>
      void response.setHeader('content-type', 'application/json').end(JSON.stringify(row.answer('Hello.')))
    expect((await gateway.ask(row.path, row.body, send)).status).toBe(200)
  })

  test('that leaves at any moment of an answer disturbs no other, and every slot is given back', async () => {
    const text = JSON.stringify(row.answer('Hello.'))
    const finished = new Set<number>()
    let count = 0
    const slowly: Script = async response => {
      const at = count++
      response.on('finish', () => finished.add(at)).setHeader('content-type', 'application/json')
      for (let at = 0; at < text.length; at += 40) {
        response.write(text.slice(at, at + 40))
        await pause(1)
      }
      response.end()
    }
    const upstream = await openUpstream(slowly)
    const gateway = await openGateway([channelFor(row, upstream.address)], { group: { concurrent: 40 } })
    const leaving = Array.from({ length: 20 }, async (_, index) => {
      const { out, answer } = gateway.send(row.path, row.body, send)
      out.on('error', () => {})
      answer.then(
        message => message.on('error', () => {}).resume(),
        () => {},
      )
      await pause(index * 2)
      out.destroy()
    })
    const staying = Array.from({ length: 10 }, () => gateway.ask(row.path, row.body, send))
    const answers = await Promise.all(staying)
    await Promise.all(leaving)
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
    const isIdle = () => upstream.seen.every(({ brokenAt }, at) => brokenAt !== undefined || finished.has(at))
    await until(isIdle)
    const again = await Promise.all(Array.from({ length: 40 }, () => gateway.ask(row.path, row.body, send)))
    expect(again.map(({ status }) => status)).toEqual(Array(40).fill(200))
    expect(gateway.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  test('whose key is taken away while its upstream works gets no answer, and no later request is let in', async () => {
    const upstream = await openUpstream(() => {})
    const channel = channelFor(row, upstream.address)
    const gateway = await openGateway([channel])
    const asked = gateway.ask(row.path, row.body, send)
    await until(() => upstream.seen.length === 1)
    gateway.server.reload(configOf([channel], { config: { keys: [] } }))
    const later = await gateway.ask(row.path, row.body, send)
    expect(later.status).toBe(401)
    upstream.script = response => void response.end()
    await Promise.race([asked, pause(1000)])
    expect(upstream.seen).toHaveLength(1)
  })
})

describe.each(STREAMED)('a stream of %s', (_, row, pieces) => {
  const send = { headers: headersOf(row) }

  test('ends at its upstream when its caller leaves, or its key is taken away, in its middle', async () => {
    const upstream = await openUpstream(response => {
      response
        .writeHead(200, { 'content-type': pieces.type })
        .write(Buffer.concat([pieces.head, pieces.word('Hello.')]))
    })
    const channel = channelFor(row, upstream.address)
    const gateway = await openGateway([channel], { group: { concurrent: 1 } })
    const first = gateway.send(pieces.path, pieces.body, send)
    const answer = await first.answer
    answer.on('error', () => {})
    await new Promise(resolve => answer.once('data', resolve))
    answer.destroy()
    await until(() => upstream.seen[0]!.brokenAt !== undefined)
    const second = await gateway.send(pieces.path, pieces.body, send).answer
    expect(second.statusCode).toBe(200)
    const chunks: Buffer[] = []
    let closed = false
    second
      .on('data', chunk => chunks.push(chunk))
      .on('error', () => {})
      .on('close', () => (closed = true))
    await until(() => chunks.length > 0)
    gateway.server.reload(configOf([channel], { config: { keys: [] } }))
    await until(() => closed && upstream.seen[1]!.brokenAt !== undefined)
    expect(Buffer.concat(chunks).toString('latin1')).not.toMatch(
      /message_stop|"COMPLETE"|"status":"completed"|end_turn/,
    )
  })

  test('whose end and whose caller’s departure meet is charged once, and frees its slot', async () => {
    const upstream = await openUpstream(async response => {
      response
        .writeHead(200, { 'content-type': pieces.type })
        .write(Buffer.concat([pieces.head, pieces.word('Hello.')]))
      await pause(5)
      response.end(pieces.tail)
    })
    const gateway = await openGateway([channelFor(row, upstream.address)], { group: { concurrent: 2 } })
    for (let round = 0; round < 16; round++) {
      const { out, answer } = gateway.send(pieces.path, pieces.body, send)
      out.on('error', () => {})
      const message = await answer
      message.on('error', () => {}).resume()
      await pause(round / 2)
      out.destroy()
    }
    const requests = () => gateway.lines.filter(({ message }) => message === 'request')
    await until(() => requests().length === 16)
    await until(() => gateway.lines.length >= 16)
    const answers = await Promise.all([1, 2].map(() => gateway.ask(pieces.path, pieces.body, send)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(requests()).toHaveLength(18)
    expect(gateway.lines.filter(({ level }) => level === 'error')).toEqual([])
  })
})

import { request } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { ASK, events, HEAD, helloWhole, STREAM, TAIL, words } from '../builders/chat.ts'
import { KEY } from '../builders/config.ts'
import { dataOf, textOf } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import { TIMED, until } from '../builders/time.ts'
import type { Script } from '../builders/upstream.ts'

const { open } = opener()
describe('what a caller may get wrong', () => {
  test.each([
    ['no key', { authorization: '' }, 401],
    ['a wrong key', { authorization: 'Bearer nobody' }, 401],
  ])('%s', async (_, headers, status) => {
    const { testServer, upstream } = await open(helloWhole)
    const answer = await testServer.ask(CHAT_PATH, ASK, { headers })
    expect(answer.status).toBe(status)
    expect(answer.json.error.message).toEqual(expect.any(String))
    expect(upstream.seen).toHaveLength(0)
  })

  test.each([
    ['no JSON', '{"model":', 400],
    ['no object', '[]', 400],
    ['a wrong type', { ...ASK, messages: 'hello' }, 400],
    ['an unknown model', { ...ASK, model: 'nobody' }, 404],
    ['no model', { messages: ASK.messages }, 400],
    ["another door's body", { model: 'm', contents: [] }, 400],
  ])('%s', async (_, body, status) => {
    const { testServer, upstream } = await open(helloWhole)
    const answer = await testServer.ask(CHAT_PATH, body)
    expect(answer.json?.error?.message).toEqual(expect.any(String))
    expect(answer.status).toBe(status)
    expect(upstream.seen).toHaveLength(0)
  })

  test("a model the key's group may not use", async () => {
    const { testServer } = await open(helloWhole, { group: { models: ['other-*'] } })
    expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(403)
  })

  test('too many requests', async () => {
    const { testServer } = await open(helloWhole, { group: { rpm: 2 } })
    const statuses = []
    for (let index = 0; index < 4; index++) statuses.push(await testServer.ask(CHAT_PATH, ASK))
    const refused = statuses.find(({ status }) => status === 429)!
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  })

  test('a body of 40 MB: refused at once, and the answer arrives although the caller is still sending', async () => {
    const { testServer } = await open(helloWhole)
    const piece = Buffer.alloc(1024 * 1024, 'x')
    const answer = await new Promise<{ status: number; text: string; sent: number }>((resolve, reject) => {
      let sent = 0
      const out = request(`${testServer.server.address}${CHAT_PATH}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}` },
      })
      out.on('error', reject)
      out.on('response', response => {
        const at = sent
        void textOf(response).then(text => resolve({ status: response.statusCode!, text, sent: at }))
      })
      const more = (): void => {
        if (sent >= 40 || out.destroyed) return void out.end()
        sent++
        out.write(piece, () => setImmediate(more))
      }
      more()
    })
    expect(answer.status).toBe(413)
    expect(JSON.parse(answer.text).error.message).toContain('larger')
    expect(answer.sent).toBeLessThan(40)
  })

  test('an announced body over the limit is refused before it is sent', async () => {
    const { testServer } = await open(helloWhole, { body: 1000 })
    const out = request(`${testServer.server.address}${CHAT_PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-length': '5000' },
    })
    out.on('error', () => {})
    out.flushHeaders()
    const status = await new Promise(resolve => out.on('response', response => resolve(response.statusCode)))
    out.destroy()
    expect(status).toBe(413)
  })

  test.each([
    ['a field nobody knows', (deep: string) => `{"model":"m","messages":[],"x":${deep}}`],
    ['a content', (deep: string) => `{"model":"m","messages":[{"role":"user","content":${deep}}]}`],
    ['the tools', (deep: string) => `{"model":"m","messages":[],"tools":${deep}}`],
  ])('%s nested without end', async (_, body) => {
    const { testServer } = await open(helloWhole)
    const answer = await testServer.ask(CHAT_PATH, body('['.repeat(200_000) + ']'.repeat(200_000)))
    expect(answer.status).toBeLessThan(500)
  })

  test('no HTTP at all', async () => {
    const { testServer } = await open(helloWhole)
    const socket = connect(Number(new URL(testServer.server.address).port), '127.0.0.1')
    socket.write('nonsense\r\n\r\n')
    const text = await new Promise(resolve => socket.on('data', data => resolve(String(data))))
    expect(text).toContain('400 Bad Request')
    socket.destroy()
    expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
  })
})

describe('a caller that leaves', () => {
  test('takes its upstream request with it, within 100 ms', TIMED, async () => {
    for (const [body, script] of [
      [STREAM, response => void events(response).write(`${HEAD}${words('Hel')}`)],
      [STREAM, () => {}],
      [ASK, () => {}],
    ] satisfies [unknown, Script][]) {
      const { testServer, upstream } = await open(script)
      const { out, answer } = testServer.send(CHAT_PATH, body)
      out.on('error', () => {})
      if (script.length > 0) (await answer).resume().on('error', () => {})
      await until(() => upstream.seen.length === 1)
      await new Promise(resolve => setTimeout(resolve, 30))
      const at = Date.now()
      out.destroy()
      await until(() => upstream.seen[0]!.brokenAt !== undefined)
      expect(upstream.seen[0]!.brokenAt! - at).toBeLessThan(100)
      await until(() => testServer.lines.length > 0)
      expect(testServer.lines.at(-1)).toMatchObject({ level: 'info', fields: { error: 'cancelled', status: 499 } })
    }
  })

  test('before its body was whole troubles nobody', async () => {
    const { testServer, upstream } = await open(helloWhole)
    const socket = connect(Number(new URL(testServer.server.address).port), '127.0.0.1')
    socket.write(
      `POST ${CHAT_PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\ncontent-length: 500\r\n\r\n{"mo`,
    )
    await new Promise(resolve => setTimeout(resolve, 50))
    socket.resetAndDestroy()
    await until(() => testServer.lines.length > 0)
    expect(testServer.lines.at(-1)).toMatchObject({ fields: { status: 499 } })
    expect(upstream.seen).toHaveLength(0)
  })
})

test('a slow reader holds up the upstream and does not grow the memory', TIMED, async () => {
  const LARGE = words('x'.repeat(8000))
  let written = 0
  const { testServer } = await open(response => {
    events(response).write(HEAD)
    const more = (): void => {
      while (written < 100e6) {
        written += LARGE.length
        if (!response.write(LARGE)) return void response.once('drain', more)
      }
      response.end(TAIL)
    }
    more()
  })
  const before = process.memoryUsage().rss
  const { answer, out } = testServer.send(CHAT_PATH, STREAM)
  out.on('error', () => {})
  const reading = await answer
  reading.pause()
  await new Promise(resolve => setTimeout(resolve, 700))
  expect(written).toBeLessThan(30e6)
  expect(process.memoryUsage().rss - before).toBeLessThan(80e6)
  const text = await textOf(reading.resume())
  expect(written).toBeGreaterThan(100e6)
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
})

test('500 streams at once, each whole and its own', async () => {
  const { testServer } = await open((response, seen) => {
    const { messages } = JSON.parse(seen.text)
    events(response).write(HEAD)
    let sent = 0
    const timer = setInterval(() => {
      response.write(words(`${messages[0].content}.${sent} `))
      if (++sent < 5) return
      clearInterval(timer)
      response.end(TAIL)
    }, 20)
  })
  const texts = await Promise.all(
    Array.from({ length: 500 }, async (_, index) => {
      const sent = testServer.send(CHAT_PATH, { ...STREAM, messages: [{ role: 'user', content: `n${index}` }] })
      return textOf(await sent.answer)
    }),
  )
  for (const [index, text] of texts.entries()) {
    const said = dataOf(text)
      .filter(data => data !== '[DONE]')
      .map(data => JSON.parse(data).choices[0]?.delta.content ?? '')
      .join('')
    expect(said).toBe([0, 1, 2, 3, 4].map(count => `n${index}.${count} `).join(''))
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  }
})

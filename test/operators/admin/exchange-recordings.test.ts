import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it, vi } from 'vitest'
import { AdminServer } from '../../builders/admin.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { channelAt } from '../../builders/config.ts'
import { MAIN } from '../../builders/paths.ts'
import { SOON, TIMED } from '../../builders/time.ts'
import { FakeUpstream, type Script } from '../../builders/upstream.ts'
import { ran } from '../../commands/ran.ts'

const closing = closingAfterEach()

const ASKED = {
  model: 'm',
  max_tokens: 50,
  stream: true,
  messages: [{ role: 'user', content: 'Say hello.' }],
}
const chunk = (delta: object, finish: string | null = null, rest: object = {}) =>
  `data: ${JSON.stringify({
    ...{ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm' },
    choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }],
    ...rest,
  })}\n\n`
const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 }
const streamed =
  (...events: readonly string[]): Script =>
  response => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`${events.join('')}data: [DONE]\n\n`)
  }
const GOOD = streamed(
  chunk({ role: 'assistant', content: 'Hello' }, null, { usage: null }),
  chunk({}, 'stop', { usage: null }),
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage })}\n\n`,
)

/** Captures one request of a messages client before an upstream of chat, and returns its recordings. */
async function captured(script: Script, body: object = ASKED, isCompressed = false) {
  const upstream = await FakeUpstream.open(script)
  closing.push(() => upstream.close())
  const admin = await AdminServer.open([channelAt(upstream.address)])
  closing.push(() => admin.close())
  const key = (await admin.post('/keys', { name: 'watched', capture: '1h' })).json
  const headers = { authorization: `Bearer ${key.secret}`, 'anthropic-version': '2023-06-01' }
  const text = JSON.stringify(body)
  const answer = await fetch(`${admin.testServer.server.address}/v1/messages`, {
    method: 'POST',
    headers: { ...headers, ...(isCompressed ? { 'content-encoding': 'gzip' } : {}) },
    body: isCompressed ? gzipSync(text) : text,
  })
  await answer.text()
  const path = `/requests/${answer.headers.get('request-id')}/recordings`
  await vi.waitFor(async () => expect((await admin.get(path)).status).toBe(200), SOON)
  const { data } = (await admin.get(path)).json as { data: { side: string; name: string; content: string }[] }
  return { data, secret: key.secret as string }
}

/** Writes the recordings into a folder and judges them with the command line, as an operator does. */
async function judged(data: readonly { readonly name: string; readonly content: string }[]) {
  const folder = mkdtempSync(join(tmpdir(), 'judged-'))
  for (const { name, content } of data) writeFileSync(join(folder, name), content)
  return ran(process.execPath, [MAIN, 'conformance', 'judge', folder], { PATH: process.env['PATH'] })
}

it('a captured request opens in the conformance kit, both sides, without its key', TIMED, async () => {
  const { data, secret } = await captured(GOOD)
  expect(data.map(({ side }) => side)).toEqual(['caller', 'upstream'])
  for (const { name, content } of data) {
    expect(content).not.toContain(secret)
    expect(name).toMatch(/^(caller-messages|upstream-chat)-.*\.json$/)
  }
  const { code, printed } = await judged(data)
  expect(printed).toMatch(/2 exchanges, \d+ checks: \d+ passed, 0 failed/)
  expect(code).toBe(0)
})

it('the kit names the rule that an upstream broke', TIMED, async () => {
  // A stream of chat whose chunks have no choices at all.
  const { data } = await captured(
    streamed('data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m"}\n\n'),
  )
  const { code, printed } = await judged(data.filter(({ side }) => side === 'upstream'))
  expect(printed).toMatch(/FAIL upstream-chat.*stream\./)
  expect(code).toBe(1)
})

it('a request that arrived compressed opens in the conformance kit', TIMED, async () => {
  const { data } = await captured(GOOD, ASKED, true)
  expect(data.map(({ content }) => content)).toEqual([
    expect.stringContaining('Say hello.'),
    expect.stringContaining('Say hello.'),
  ])
  expect((await judged(data)).printed).toMatch(/2 exchanges, \d+ checks: \d+ passed, 0 failed/)
})

it('a side that was stored only in part is no recording, and says so', TIMED, async () => {
  const long = 'a'.repeat(1_100_000)
  const { data } = await captured(GOOD, { ...ASKED, messages: [{ role: 'user', content: long }] })
  expect(data.map(one => [one.side, (one as { missing?: string }).missing])).toEqual([
    ['caller', 'cut'],
    ['upstream', 'cut'],
  ])
})

it('recordings that are none, and files that cannot be judged, end the command with an error', TIMED, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'judged-'))
  writeFileSync(join(folder, 'a.json'), '{}')
  const args = (path: string) => [MAIN, 'conformance', 'judge', path]
  const env = { PATH: process.env['PATH'] }
  const faulty = await ran(process.execPath, args(folder), env)
  expect([faulty.code, faulty.printed]).toEqual([expect.any(Number), expect.stringContaining('a.json')])
  expect(faulty.code).not.toBe(0)
  const absent = await ran(process.execPath, args(join(folder, 'b.json')), env)
  expect(absent.code).not.toBe(0)
})

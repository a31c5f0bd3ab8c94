import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { START_OPTIONS } from '../../../building/start-options.ts'
import { peerNames, readPeer, upstreamsOf } from '../../../src/kit/conformance/peer.ts'
import { resultsOf } from '../../../src/kit/conformance/report/results.ts'
import { run } from '../../../src/kit/conformance/run.ts'
import { readScenario } from '../../../src/kit/conformance/scenario.ts'
import { MissingPeer, type RunningPeer, startPeer, versionIn } from '../../../src/kit/conformance/start-peer.ts'
import { Upstream } from '../../../src/kit/conformance/upstream.ts'

/* Peers: folders that describe other gateways. */

/** A gateway that takes its upstream from a header, and prints its version from its environment. */
const PROGRAM = `
if (process.argv[2] === '--version') console.log('A gateway\\nversion ' + process.env.VERSION + ' of today')
else (await import('node:http')).createServer(async (message, reply) => {
  const body = Buffer.concat(await message.toArray())
  if (!message.headers['x-upstream']) return reply.writeHead(200).end()
  const got = await fetch(message.headers['x-upstream'] + process.env.END, { method: 'POST', body, headers: { 'content-type': 'application/json', authorization: 'Bearer ' + message.headers['x-secret'] } })
  reply.writeHead(got.status, { 'content-type': 'application/json' }).end(await got.text())
}).listen(Number(process.argv[2]), '127.0.0.1')
`

function folderOf(end: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-peers-'))
  writeFileSync(join(folder, 'program.mjs'), PROGRAM)
  const program = join(folder, 'program.mjs')
  writeFileSync(
    join(folder, 'peer.yaml'),
    `name: by-header
version: { command: ["\${node}", "${program}", --version] }
start: { command: ["\${node}", "${program}", "\${port}"], env: { VERSION: 1.2.3-rc.1, END: ${end} } }
callers: { chat: /v1, messages: "" }
upstreams: { chat: [chat] }
headers: { chat: { x-upstream: "\${upstream.chat}", x-secret: "\${upstream_key}" } }
`,
  )
  return folder
}

test('this gateway is started with the options of `npm start`', () => {
  const { start } = readPeer('interlingua')
  const program = start.findIndex(word => word.endsWith('.js'))
  expect(start.slice(1, program)).toEqual(START_OPTIONS)
})

describe('models, headers and addresses of a folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-peers-'))
  const program = join(folder, 'program.mjs')
  writeFileSync(program, PROGRAM)
  // biome-ignore lint/suspicious/noTemplateCurlyInString: these are the kit's placeholders.
  writeFileSync(join(folder, 'address.txt'), '${upstream.rerank} ${origin.rerank} ${origin.realtime} ${origin.rerank}')
  writeFileSync(
    join(folder, 'peer.yaml'),
    `name: by-model
start: { command: ["\${node}", "${program}", "\${port}"] }
files: { address.txt: address.txt }
callers: { embeddings: /v1, realtime: /v1 }
models: { contents.embeddings: other }
headers: { contents: { x-of: contents }, cohere.embeddings: { x-of: embeddings }, realtime: { x-upstream: "\${origin.realtime}" } }
`,
  )

  test('models and headers are those of the format, else of the one it shares its base URL with', async () => {
    const upstream = await Upstream.open()
    const { target, close } = await startPeer(readPeer(folder), upstream)
    const names = [
      'contents',
      'contents.embeddings',
      'contents.images',
      'cohere.embeddings',
      'cohere.rerank',
      'realtime',
    ]
    expect(names.map(target.model)).toEqual([
      ...['kit-contents', 'other', 'kit-contents'],
      ...['kit-cohere', 'kit-cohere', 'kit-realtime'],
    ])
    expect(names.slice(0, 5).map(name => target.headers!(name)['x-of'])).toEqual([
      ...['contents', 'contents', 'contents'],
      ...['embeddings', undefined],
    ])
    expect(target.headers!('realtime')['x-upstream']).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    await close()
    await upstream.close()
  })

  test('an origin has the paths of its format at its root', async () => {
    const upstream = await Upstream.open()
    upstream.play(readScenario('rerank-text'))
    const origin = await upstream.origin('rerank')
    const body = JSON.stringify({ model: 'm', query: 'a', documents: ['b'] })
    const headers = { 'content-type': 'application/json' }
    const got = await fetch(`${origin}/v1/rerank`, { method: 'POST', headers, body })
    expect([got.status, upstream.arrived.map(({ format, path }) => `${format}${path}`)]).toEqual([
      200,
      ['rerank/rerank'],
    ])
    await upstream.close()
    await expect(fetch(origin)).rejects.toThrow()
  })
})

test('claims under * are those of callers that are not named', () => {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-peers-'))
  writeFileSync(
    join(folder, 'peer.yaml'),
    `name: some
start: { command: [some] }
callers: { chat: /v1, messages: "", responses.socket: /v1 }
upstreams: { responses.socket: [messages], "*": [chat, messages] }
`,
  )
  expect(readPeer(folder).upstreams).toEqual({
    ...{ chat: ['chat', 'messages'], messages: ['chat', 'messages'] },
    'responses.socket': ['messages'],
  })
})

describe('a gateway that takes its upstream from a header', () => {
  let upstream: Upstream
  let peer: RunningPeer
  beforeAll(async () => {
    upstream = await Upstream.open()
  })
  afterAll(() => upstream.close())

  const ran = async (end: string) => {
    const started = new Date()
    const described = readPeer(folderOf(end))
    peer = await startPeer(described, upstream)
    const wanted = { scenarios: [readScenario('text')], callers: ['chat', 'messages'], upstreams: ['chat'] }
    const results = await run({ target: peer.target, upstream, ...wanted, only: '*/text/whole' })
    await peer.close()
    return {
      described,
      results,
      document: resultsOf(results, { kit: '1', started, target: peer.target, command: 'a' }),
    }
  }

  test('gets the headers of its folder, prints its version in its environment, and is asked for claimed pairs only', async () => {
    const { described, results, document } = await ran('/chat/completions')
    expect([...upstreamsOf(described)]).toEqual(['chat'])
    expect(document.target.version).toBe('1.2.3-rc.1')
    const statuses = Object.fromEntries(
      results.map(({ cell, checks }) => [cell.id, new Set(checks.map(({ status }) => status))]),
    )
    expect(statuses['chat-chat/text/whole']).toEqual(new Set(['pass']))
    expect(statuses['messages-chat/text/whole']).toEqual(new Set(['unsupported']))
    expect(JSON.stringify(document)).not.toContain(peer.target.key)
  })

  test('a request to a path that no format has is named in the report', async () => {
    const { document } = await ran('/chats')
    const arrives = document.checks.find(({ rule }) => rule === 'request.arrives')!
    expect(arrives.status).toBe('fail')
    expect(arrives.details!.join()).toContain('/chat/v1/chats is not a path of the format')
    const [dump] = document.cells[0]!.wire!.upstream
    expect(dump!.head).toMatch(/^POST http.*\/chat\/v1\/chats$/)
  })
})

test.each([
  ['LiteLLM: Current Version = 1.108.7\n\n', '1.108.7'],
  ['v7.2.140, Commit: a7e3596b7', '7.2.140'],
  ['first\nnightly\n', 'nightly'],
])('the version in %j', (printed, version) => expect(versionIn(printed)).toBe(version))

describe.each(peerNames())('the folder %s', name => {
  const peer = readPeer(name)
  test('claims formats that it has callers for, and has no header for another upstream', () => {
    expect(Object.keys(peer.callers)).toEqual(expect.arrayContaining(Object.keys(peer.upstreams)))
    expect([...upstreamsOf(peer)]).toEqual(expect.arrayContaining(Object.keys(peer.headers)))
  })

  test.runIf(peer.program)('says how to get a program that is missing', async () => {
    const upstream = await Upstream.open()
    const missing = { ...peer, program: { ...peer.program!, env: 'KIT_NO_SUCH_PROGRAM', name: 'no-such-program' } }
    await expect(startPeer(missing, upstream)).rejects.toThrow(MissingPeer)
    await expect(startPeer(missing, upstream)).rejects.toThrow(peer.program!.get)
    await upstream.close()
  })
})

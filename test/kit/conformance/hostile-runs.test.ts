// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of peers look like that
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { turnsOf } from '../../../src/kit/conformance/facts.ts'
import { readPeer } from '../../../src/kit/conformance/peer.ts'
import { openProxy } from '../../../src/kit/conformance/proxy/index.ts'
import { run } from '../../../src/kit/conformance/run.ts'
import { mergedOf } from '../../../src/kit/conformance/run-all.ts'
import type { CellResult, Target } from '../../../src/kit/conformance/run-cells.ts'
import { readScenario } from '../../../src/kit/conformance/scenario.ts'
import { schemaFindings } from '../../../src/kit/conformance/schema.ts'
import { readSse } from '../../../src/kit/conformance/sse.ts'
import { startPeer } from '../../../src/kit/conformance/start-peer.ts'
import { Upstream } from '../../../src/kit/conformance/upstream.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { conformance } from '../../builders/conformance.ts'
import { growthOf, LINEAR } from '../../builders/growth.ts'
import { TIMED } from '../../builders/time.ts'

/*
 * Runs that are disturbed from outside: disks that take no reports, requests that arrive in the next cell, readers that
 * never read, clocks that jump, events in any other order, and requests that take quadratic time to judge.
 */

const closing = closingAfterEach()
afterEach(() => vi.restoreAllMocks())

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hostile-runs-'))
  closing.push(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function openUpstream(): Promise<Upstream> {
  const upstream = await Upstream.open()
  closing.push(() => upstream.close())
  return upstream
}

describe('a disk that takes no report', () => {
  async function runWith(...options: string[]) {
    const upstream = await openUpstream()
    upstream.play(readScenario('text'))
    const result = await conformance(
      ...`--model kit --caller chat --only chat/text/whole --target ${upstream.base('chat')}`.split(' '),
      ...options,
    )
    return { ...result, asked: upstream.arrived.length }
  }

  test('costs only that report: the others are written, and the summary is printed', async () => {
    const folder = newFolder()
    const [json, junit] = [join(folder, 'r.json'), join(folder, 'r.xml')]
    const { code, out, fault } = await runWith('--json', json, '--markdown', '/dev/full', '--junit', junit)
    expect(JSON.parse(readFileSync(json, 'utf8')).checks).not.toEqual([])
    expect(readFileSync(junit, 'utf8')).toContain('</testsuites>')
    expect(out).toMatch(/passed/)
    expect(fault).toMatch(/\/dev\/full cannot be written: .*ENOSPC/)
    expect(code).toBe(1)
  })

  test('that is full leaves an earlier report as it is, and no part of the new one', async () => {
    const folder = newFolder()
    const json = join(folder, 'r.json')
    writeFileSync(json, '{"earlier":true}')
    // A file that can be read but not replaced: its folder is closed.
    chmodSync(folder, 0o555)
    try {
      const isRoot = process.getuid?.() === 0
      const { code } = await runWith('--json', json)
      expect(code).toBe(isRoot ? 0 : 1)
      if (!isRoot) expect(readFileSync(json, 'utf8')).toBe('{"earlier":true}')
    } finally {
      chmodSync(folder, 0o755)
    }
    expect(readdirSync(folder)).toEqual(['r.json'])
  })

  test.each<[string, (folder: string) => string, RegExp]>([
    ['in a folder that is missing', folder => join(folder, 'none', 'r.json'), /there is no such folder/],
    [
      'that is a folder',
      folder => {
        mkdirSync(join(folder, 'r.json'))
        return join(folder, 'r.json')
      },
      /is a folder/,
    ],
  ])('%s is refused before the run, which may take hours', async (_, place, message) => {
    const { code, fault, asked } = await runWith('--json', place(newFolder()))
    expect([code, asked]).toEqual([2, 0])
    expect(fault).toMatch(message)
  })

  test('to which a link leads keeps the link', async () => {
    const folder = newFolder()
    writeFileSync(join(folder, 'real.json'), '')
    symlinkSync('real.json', join(folder, 'latest.json'))
    await runWith('--json', join(folder, 'latest.json'))
    expect(readFileSync(join(folder, 'real.json'), 'utf8')).toContain('"checks"')
    expect(readdirSync(folder).sort()).toEqual(['latest.json', 'real.json'])
  })

  test.each(['', 'chat/text/whole/answer.http.st'])(
    'with expected failures cut to %j makes none expected',
    async text => {
      const expected = join(newFolder(), 'expected')
      writeFileSync(expected, text)
      const { code } = await runWith('--expected-failures', expected)
      expect(code).toBe(text === '' ? 0 : 1)
    },
  )

  test('with a folder of expected failures is refused before the run', async () => {
    const { code, asked } = await runWith('--expected-failures', newFolder())
    expect([code, asked]).toEqual([2, 0])
  })
})

/** A peer that starts late. Its files may be written to other places. */
function peerFolder(files = 'files: {}'): string {
  const folder = newFolder()
  const program = join(folder, 'program.mjs')
  writeFileSync(
    program,
    `setTimeout(() => import('node:http').then(http => http.createServer((_, reply) => reply.end()).listen(Number(process.argv[2]), '127.0.0.1')), 300)`,
  )
  writeFileSync(join(folder, 'template'), '${upstream_key}')
  writeFileSync(
    join(folder, 'peer.yaml'),
    `name: late\nstart: { command: ["\${node}", "${program}", "\${port}"] }\ncallers: { chat: /v1 }\n${files}\n`,
  )
  return folder
}

describe('a peer', () => {
  test('whose file cannot be written leaves no folder with keys behind', async () => {
    const peer = readPeer(peerFolder('files: { keys: template, none/config.yaml: template }'))
    const own = newFolder()
    vi.stubEnv('TMPDIR', own)
    try {
      await expect(startPeer(peer, await openUpstream())).rejects.toThrow(/ENOENT/)
      expect(readdirSync(own)).toEqual([])
    } finally {
      vi.unstubAllEnvs()
    }
  })

  test.each([
    ['forth', 86_400_000],
    ['back', -86_400_000],
  ])('that starts while the clock is set %s is waited for', async (_, jump) => {
    const real = Date.now.bind(Date)
    const start = performance.now()
    vi.spyOn(Date, 'now').mockImplementation(() => real() + (performance.now() - start > 100 ? jump : 0))
    const running = await startPeer(readPeer(peerFolder()), await openUpstream())
    closing.push(() => running.close())
    expect(running.target.name).toBe('late')
  })
})

const HEAD = 'POST /chat/v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n'
const BODY = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] })

const connected = (upstream: Upstream): Promise<Socket> =>
  new Promise(resolve => {
    const socket = connect(Number(new URL(upstream.root).port), '127.0.0.1', () => resolve(socket))
    socket.on('error', () => {})
    closing.push(() => socket.destroy())
  })

const textOf = async (socket: Socket): Promise<string> => Buffer.concat(await socket.toArray()).toString()

describe('a target', () => {
  test('whose request of one cell ends in the next does not change the verdict about the next', async () => {
    const upstream = await openUpstream()
    upstream.play(readScenario('text'))
    const socket = await connected(upstream)
    socket.write(`${HEAD}connection: close\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY.slice(0, 10)}`)
    const before = await fetch(`${upstream.base('chat')}/chat/completions`, { method: 'POST', body: BODY })
    await before.arrayBuffer()
    expect(upstream.arrived).toHaveLength(1)
    upstream.play(readScenario('text'))
    let isFirst = false
    void upstream.firstArrival.then(() => (isFirst = true))
    socket.write(BODY.slice(10))
    expect(await textOf(socket)).toMatch(/^HTTP\/1\.1 503 /)
    expect([upstream.arrived, upstream.strays, isFirst]).toEqual([[], [], false])
  })

  test('that never reads an answer holds up its own cell and no later one', async () => {
    const upstream = await openUpstream()
    const text = readScenario('text')
    const stream = Buffer.from(`data: ${'a'.repeat(1000)}\n\n`.repeat(20_000))
    const chat = { ...text.wires['chat']!, stream }
    upstream.play({ ...text, upstream: { cut_at: 0.9 }, wires: { chat } })
    const socket = await connected(upstream)
    socket.pause()
    socket.write(`${HEAD}content-length: ${BODY.length}\r\n\r\n${BODY}`)
    await upstream.firstArrival
    await upstream.settled(100)
    upstream.play(text)
    const start = performance.now()
    await upstream.settled(60_000)
    expect(performance.now() - start).toBeLessThan(30_000)
  })

  test('that asks for another upgrade than a WebSocket is answered over HTTP, as Java’s clients expect', async () => {
    const upstream = await openUpstream()
    upstream.play(readScenario('text'))
    for (const root of [upstream.root, await upstream.origin('chat')]) {
      const path = root === upstream.root ? '/chat/v1' : '/v1'
      const socket = connect(Number(new URL(root).port), '127.0.0.1')
      closing.push(() => socket.destroy())
      socket.write(
        `POST ${path}/chat/completions HTTP/1.1\r\nhost: a\r\nconnection: upgrade, http2-settings, close\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\ncontent-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`,
      )
      socket.setTimeout(20_000, () => socket.destroy())
      let text = ''
      await new Promise<void>(resolve => {
        socket.on('data', chunk => {
          text += chunk
          if (text.includes('[DONE]')) resolve()
        })
        socket.on('close', () => resolve())
      })
      expect(text).toMatch(/^HTTP\/1\.1 200 /)
      expect(text).toContain('[DONE]')
    }
    expect(upstream.arrived).toHaveLength(2)
  })
})

describe('a gateway that answers by itself', () => {
  /** Runs a cell of chat on a gateway that forwards so many requests, and answers all others with a status. */
  async function statusesOf(pair: string, scenario: string, forwarded: number, status: number) {
    const upstream = await openUpstream()
    let count = 0
    const server = createServer(async (message, reply) => {
      const body = Buffer.concat(await message.toArray())
      if (count++ >= forwarded) {
        reply.writeHead(status, { 'content-type': 'application/json' })
        return reply.end('{"error":{"message":"no","type":"invalid_request_error"}}')
      }
      const answer = await fetch(`${upstream.base('chat')}/chat/completions`, {
        ...{ method: 'POST', body, headers: { 'content-type': 'application/json' } },
      })
      reply.writeHead(answer.status, { 'content-type': answer.headers.get('content-type')! })
      return reply.end(Buffer.from(await answer.arrayBuffer()))
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => server.close())
    const bases = { chat: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
    const target: Target = { name: 'alone', bases, key: 'k', model: () => 'kit', translates: true }
    const [callers, upstreams] = pair.split('-').map(name => [name])
    const only = `${pair}/${scenario}/whole`
    const [result] = await run({
      target,
      upstream,
      scenarios: [readScenario(scenario)],
      callers: callers!,
      upstreams: upstreams!,
      only,
    })
    return new Set(
      result!.checks.filter(({ rule }) => /http\.status|supported/.test(rule)).map(one => `${one.rule} ${one.status}`),
    )
  }

  test('may refuse what the format of its upstream cannot express, and nothing that it can', async () => {
    expect(await statusesOf('chat-responses', 'system', 0, 400)).toEqual(new Set(['answer.supported unsupported']))
    expect(await statusesOf('chat-chat', 'system', 0, 400)).toEqual(new Set(['answer.http.status fail']))
  })

  test('lacks an endpoint at the first request or never', async () => {
    expect(await statusesOf('chat-chat', 'turns-continued', 0, 404)).toEqual(new Set(['answer.supported unsupported']))
    expect(await statusesOf('chat-chat', 'turns-continued', 1, 404)).toEqual(
      new Set(['answer.http.status pass', 'step-2.answer.http.status fail']),
    )
  })
})

/** Runs one cell through a proxy that changes the answer. */
async function judgedWith(upstream: Upstream, format: string, change: (text: string) => string) {
  const proxy = await openProxy({
    upstream: upstream.root,
    meddling: { answer: answer => ({ ...answer, body: Buffer.from(change(answer.body.toString('utf8'))) }) },
  })
  const bases = { [format]: upstream.base(format).replace(upstream.root, proxy.root) }
  const target: Target = { name: 'order', bases, key: 'kit-key', model: () => 'kit', translates: false }
  const only = `${format}-${format}/text/stream`
  const selection = { scenarios: [readScenario('text')], callers: [format], upstreams: [format], only }
  const [result] = await run({ target, upstream, ...selection })
  await proxy.close()
  return result!.checks.filter(({ status }) => status === 'fail' || status === 'harness-error')
}

/** Events that may stand beside a neighbour in either order: keep-alives, the role of chat, and its counts. */
const EXCHANGEABLE = /"type": "ping"|"role": "assistant", "content": ""|"choices": \[\], "usage"(?!.*\[DONE\])/s

describe('the order of events', () => {
  test.each(['chat', 'messages', 'responses', 'contents'])(
    'of %s: no two neighbours can be exchanged unnoticed',
    async format => {
      const upstream = await openUpstream()
      const stream = readScenario('text').wires[format]!.stream!
      const count = readSse(stream).events.length
      expect(await judgedWith(upstream, format, text => text)).toEqual([])
      const unnoticed: string[] = []
      for (let at = 0; at + 1 < count; at++) {
        let pair: readonly string[] = []
        const failed = await judgedWith(upstream, format, text => {
          const events = text.split(/(?<=\r?\n\r?\n)/)
          pair = [events[at]!, events[at + 1]!]
          return [...events.slice(0, at), events[at + 1], events[at], ...events.slice(at + 2)].join('')
        })
        if (failed.length === 0 && !EXCHANGEABLE.test(pair.join())) unnoticed.push(pair.join())
      }
      expect(unnoticed).toEqual([])
    },
  )

  test('of checks in repetitions does not count, but their outcomes do', () => {
    const check = (rule: string, status: 'pass' | 'fail') => ({
      ...{ id: `c/${rule}`, cell: 'c', rule, level: 'must', status, says: '', source: '' },
    })
    const cell = { id: 'c', caller: { name: 'chat' }, upstream: undefined, scenario: { id: 's' }, mode: 'whole' }
    const round = (...checks: ReturnType<typeof check>[]) => ({ cell, checks }) as unknown as CellResult
    const [a, b] = [check('a', 'pass'), check('b', 'pass')]
    expect(mergedOf([round(a, b), round(b, a)]).checks.map(({ rule }) => rule)).toEqual(['a', 'b'])
    const flaky = mergedOf([round(a, b), round(check('b', 'fail'), a)])
    expect(flaky.checks.map(({ rule, status }) => `${rule} ${status}`)).toEqual(['b fail', 'a pass', 'flaky fail'])
  })

  test('of answers on one connection: only the first is judged, whatever comes before and behind it', async () => {
    const whole = readScenario('text').wires['chat']!.whole!.toString()
    const answer = (status: string, body: string): string =>
      `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    const server = createTcpServer(socket => {
      socket.on('error', () => {})
      socket.once('data', () => {
        for (let hint = 0; hint < 20; hint++) socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n')
        socket.end(answer('200 OK', whole) + answer('500 Evil', '{"evil":true}'))
      })
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => server.close())
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const target: Target = { name: 'twice', bases: { chat: base }, key: 'k', model: () => 'm', translates: true }
    const selection = { scenarios: [readScenario('text')], callers: ['chat'], only: 'chat/text/whole' }
    const [result] = await run({ target, ...selection })
    expect(result!.record!.exchange.got).toMatchObject({ status: 200 })
    expect(JSON.stringify(result!.checks)).not.toContain('evil')
  })

  test('of steps: an answer to a later step before the first one is not taken for the first', async () => {
    const server = createServer((message, reply) => {
      message.resume()
      reply.writeHead(409, { 'content-type': 'application/json' }).end('{"error":{"message":"too early"}}')
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => server.close())
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const target: Target = { name: 'early', bases: { videos: base }, key: 'k', model: () => 'm', translates: true }
    const results = await run({ target, scenarios: [readScenario('videos-state')], callers: ['videos'] })
    expect(results).not.toEqual([])
    for (const { record } of results) expect(record?.later ?? []).toEqual([])
  })
})

describe('what a target sends takes linear time to judge', TIMED, () => {
  test('turns of one role', async () => {
    const turns = (count: number) =>
      turnsOf(Array.from({ length: count }, () => ({ role: 'user', parts: [{ kind: 'text', text: 'a' }] }) as const))
    expect(await growthOf(turns, 10_000)).toBeLessThan(LINEAR)
  })

  test.each<[string, string, string, (count: number) => object]>([
    [
      'messages without fields',
      'chat',
      'CreateChatCompletionRequest',
      count => ({ model: 'm', messages: Array(count).fill({}) }),
    ],
    ['items without fields', 'responses', 'CreateResponse', count => ({ model: 'm', input: Array(count).fill({}) })],
    [
      'unknown fields',
      'chat',
      'CreateChatCompletionRequest',
      count => Object.fromEntries(Array.from({ length: count }, (_, at) => [`x${at}`, at])),
    ],
  ])('%s', async (_, format, name, bodyOf) => {
    const judge = (count: number) => schemaFindings(format, name, bodyOf(count), [])
    expect(await growthOf(judge, 1500)).toBeLessThan(LINEAR)
  })

  test('events, comments and lines of data', async () => {
    for (const line of ['data: {}\n\n', ': a\n', 'data: a\n', 'id: 1\n'])
      expect(await growthOf(count => readSse(Buffer.from(line.repeat(count))), 10_000)).toBeLessThan(LINEAR)
  })
})

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { openProxy, type RunningProxy } from '../../src/kit/conformance/proxy/index.ts'
import { saboteur as doneMissing } from '../../src/kit/conformance/saboteurs/done-missing.ts'
import { readScenario } from '../../src/kit/conformance/scenario.ts'
import { Upstream } from '../../src/kit/conformance/upstream.ts'
import { conformance } from '../builders/conformance.ts'
import { ENV, MAIN } from '../builders/paths.ts'
import { pause } from '../builders/time.ts'

const fileName = (): string => join(mkdtempSync(join(tmpdir(), 'conformance-')), 'results.json')

describe('conformance', () => {
  const opened: { close(): Promise<void> }[] = []
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.close()
  })

  test('a peer: results are valid by the published schema, and the exit code is 0', async () => {
    const file = fileName()
    const { code, out, fault } = await conformance('--peer', 'proxy', '--only', '*/text/*', '--json', file)
    expect({ code, fault }).toEqual({ code: 0, fault: '' })
    expect(out).toMatch(/Plain proxy: 45 cells, \d+ checks: \d+ passed, 0 failed/)
    const results = JSON.parse(readFileSync(file, 'utf8'))
    const validate = new Ajv2020().compile(JSON.parse(readFileSync('conformance/results.schema.json', 'utf8')))
    expect(validate(results), JSON.stringify(validate.errors)).toBe(true)
  })

  test('live: a failure shows rule, source, both sides and the command that repeats it, but no key', async () => {
    const upstream = await Upstream.open()
    const proxy: RunningProxy = await openProxy({ upstream: upstream.root, meddling: doneMissing })
    opened.push(upstream, proxy)
    upstream.play(readScenario('text'))
    const file = fileName()
    const rest = [
      '--key',
      'secret-key',
      '--model',
      'kit',
      '--caller',
      'chat',
      '--json',
      file,
      '--only',
      'chat/text/stream',
    ]
    const good = await conformance('--target', upstream.base('chat'), ...rest)
    expect(good.code, good.out).toBe(0)
    const bad = await conformance('--target', `${proxy.root}/chat/v1`, ...rest)
    expect(bad.code).toBe(1)
    expect(bad.out).toMatch(
      /^FAIL chat\/text\/stream\/stream\.done\n.*\(https:.*\n.*\n {2}Reproduce with: interlingua conformance --target/m,
    )
    const { cells } = JSON.parse(readFileSync(file, 'utf8'))
    expect(cells[0].wire.request.body).toContain('Grüße')
    expect(cells[0].wire.answer.body).toContain('Grüße')
    expect(readFileSync(file, 'utf8') + bad.out).not.toContain('secret-key')
  })

  test('live: the command that repeats a failure quotes a name that a shell would run', async () => {
    const model = "it's; touch here"
    const { out } = await conformance(
      ...['--target', 'http://127.0.0.1:9/v1', '--model', model, '--caller', 'chat', '--only', 'chat/text/stream'],
    )
    expect(out).toContain(`--target http://127.0.0.1:9/v1 --model 'it'\\''s; touch here' --key "$KEY"`)
  })

  test('reports are written, and expected failures and differences decide the exit code', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
    const at = (name: string): string => join(folder, name)
    const upstream = await Upstream.open()
    const proxy = await openProxy({ upstream: upstream.root, meddling: doneMissing })
    opened.push(upstream, proxy)
    upstream.play(readScenario('text'))
    const run = (target: string, ...more: string[]) =>
      conformance(...`--model kit --caller chat --only chat/text/stream --target ${target}`.split(' '), ...more)
    const good = upstream.base('chat')
    const bad = `${proxy.root}/chat/v1`
    const reports = [
      '--json',
      at('bad.json'),
      '--junit',
      at('j.xml'),
      '--markdown',
      at('m.md'),
      '--html',
      at('h.html'),
      '--badge',
      at('b.json'),
    ]
    expect((await run(bad, ...reports)).code).toBe(1)
    expect(readFileSync(at('j.xml'), 'utf8')).toContain('failures="1"')
    expect(readFileSync(at('m.md'), 'utf8')).toContain('`chat/text/stream/stream.done`')
    expect(JSON.parse(readFileSync(at('b.json'), 'utf8'))).toMatchObject({ label: 'conformance' })
    expect((await run(good, '--json', at('good.json'))).code).toBe(0)
    const broken = await conformance('diff', at('good.json'), at('bad.json'))
    expect(broken).toMatchObject({ code: 1, out: 'Newly failing: 1\n  chat/text/stream/stream.done\n' })
    expect((await conformance('diff', at('bad.json'), at('good.json'))).code).toBe(0)
    expect((await conformance('diff', at('bad.json'), at('m.md'))).code).toBe(2)
    const partial = { ...JSON.parse(readFileSync(at('good.json'), 'utf8')), interrupted: true, cells: [], checks: [] }
    writeFileSync(at('partial.json'), JSON.stringify(partial))
    expect((await conformance('diff', at('good.json'), at('partial.json'))).code).toBe(1)
    expect((await conformance('matrix', at('partial.json'))).code).toBe(2)
    writeFileSync(at('expected'), 'chat/text/stream/stream.done  # known\n')
    expect((await run(bad, '--expected-failures', at('expected'))).code).toBe(0)
    const stale = await run(good, '--expected-failures', at('expected'))
    expect(stale).toMatchObject({ code: 1, fault: expect.stringContaining('Stale entry') })
  })

  test('a run that is interrupted says so, ends with 1, and makes no entry stale', async () => {
    const upstream = await Upstream.open()
    opened.push(upstream)
    upstream.play(readScenario('text'))
    const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
    const [json, expected] = [join(folder, 'r.json'), join(folder, 'expected')]
    writeFileSync(expected, 'messages/text/whole/answer.http.status\n')
    // A separate process gets the signal, because other listeners of this process would end it.
    const running = spawn(
      process.execPath,
      [
        ...[MAIN, 'conformance', '--target', upstream.base('chat'), '--model', 'kit', '--delay', '1000'],
        ...['--json', json, '--expected-failures', expected],
      ],
      { env: ENV, stdio: ['ignore', 'ignore', 'pipe'] },
    )
    opened.push({ close: async () => void running.kill('SIGKILL') })
    let fault = ''
    running.stderr.on('data', chunk => (fault += chunk))
    const ended = once(running, 'close')
    await vi.waitFor(() => expect(upstream.arrived).not.toEqual([]), { timeout: 60_000 })
    running.kill('SIGINT')
    // npm passes on the signal of a terminal, which the process already has.
    await pause(50)
    running.kill('SIGINT')
    expect(await ended).toEqual([1, null])
    expect(fault).not.toContain('Stale')
    const results = JSON.parse(readFileSync(json, 'utf8'))
    expect(results.interrupted).toBe(true)
    expect(results.cells.length).toBeLessThan(10)
    const validate = new Ajv2020().compile(JSON.parse(readFileSync('conformance/results.schema.json', 'utf8')))
    expect(validate(results), JSON.stringify(validate.errors)).toBe(true)
  })

  test('a target without the endpoints is no success, and a path is taken as it is given', async () => {
    const paths: string[] = []
    const server = createServer((request, response) => {
      paths.push(request.url!)
      response.writeHead(404).end('{}')
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    opened.push({ close: async () => void server.close() })
    const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const run = (path: string, door: string) =>
      conformance('--target', `${target}${path}`, '--model', 'm', '--caller', door, '--only', '*/text/whole')
    expect(await run('/api/paas/v4', 'chat')).toMatchObject({
      code: 1,
      fault: expect.stringContaining('nothing was judged'),
    })
    await run('', 'chat')
    await run('/v1/', 'messages')
    expect(paths).toEqual(['/api/paas/v4/chat/completions', '/v1/chat/completions', '/v1/messages'])
  })

  test('a peer that dies at once is reported at once, and a field that is missing is named', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
    const peer = join(folder, 'peer.yaml')
    writeFileSync(peer, 'name: dies\nstart: { command: [sh, -c, "kill -9 $$"] }\ncallers: { chat: /v1 }\n')
    expect(await conformance('--peer', folder)).toMatchObject({ code: 1, fault: expect.stringContaining('SIGKILL') })
    writeFileSync(peer, 'name: dies\ncallers: { chat: /v1 }\n')
    expect((await conformance('--peer', folder)).fault).toContain('peer.yaml: start.command is missing')
  })

  test('a peer that answers every request with 404 is no success', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
    const program = `require('node:http').createServer((_, reply) => reply.writeHead(404).end()).listen(Number(process.argv[1]), '127.0.0.1')`
    writeFileSync(
      join(folder, 'peer.yaml'),
      JSON.stringify({
        ...{ name: 'empty', callers: { chat: '/v1' }, upstreams: ['chat'] },
        // biome-ignore lint/suspicious/noTemplateCurlyInString: placeholders of peers look like that
        start: { command: ['${node}', '-e', program, '${port}'] },
      }),
    )
    const { code, fault } = await conformance('--peer', folder, '--only', '*/text/*')
    expect({ code, fault }).toEqual({ code: 1, fault: expect.stringContaining('nothing was judged') })
    // A pair that the peer does not claim was not asked for.
    expect((await conformance('--peer', 'proxy', '--only', 'chat-messages/text/*')).code).toBe(0)
  })

  test('a gateway that a shell starts ends with the run, which does not wait for its output', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
    const portFile = join(folder, 'port')
    writeFileSync(
      join(folder, 'gateway.cjs'),
      `require('node:fs').writeFileSync(${JSON.stringify(portFile)}, process.argv[2])
require('node:http').createServer((_, reply) => reply.end('{}')).listen(Number(process.argv[2]), '127.0.0.1')`,
    )
    writeFileSync(
      join(folder, 'peer.yaml'),
      JSON.stringify({
        ...{ name: 'shell', callers: { chat: '/v1' }, upstreams: ['chat'] },
        // biome-ignore lint/suspicious/noTemplateCurlyInString: placeholders of peers look like that
        start: { command: ['sh', '-c', `"$0" "${folder}/gateway.cjs" "$1"; true`, '${node}', '${port}'] },
      }),
    )
    const running = spawn(process.execPath, [MAIN, 'conformance', '--peer', folder, '--only', '*/text/whole'], {
      ...{ env: ENV, stdio: ['ignore', 'ignore', 'ignore'] },
    })
    opened.push({ close: async () => void running.kill('SIGKILL') })
    expect(await Promise.race([once(running, 'close'), pause(60_000)])).toEqual([1, null])
    await expect(fetch(`http://127.0.0.1:${readFileSync(portFile, 'utf8')}`)).rejects.toThrow('fetch failed')
  })

  test('a peer that is not installed is unsupported, with the way to get it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
    const program = '{ env: NOWHERE_PROGRAM, name: no-such-gateway, get: "install it with nothing" }'
    writeFileSync(
      join(folder, 'peer.yaml'),
      `name: nowhere\nstart: { command: [x] }\nprogram: ${program}\ncallers: { chat: /v1 }\n`,
    )
    const { code, out } = await conformance('--peer', folder)
    expect({ code, out }).toEqual({
      code: 0,
      out: 'unsupported: nowhere is not installed: install it with nothing (or set NOWHERE_PROGRAM)\n',
    })
  })

  test('wrong usage ends with 2', async () => {
    expect((await conformance()).code).toBe(2)
    expect((await conformance('--target', 'http://127.0.0.1:9')).fault).toMatch(/--model/)
    for (const target of ['http://bob:s3cret@127.0.0.1:9', 'http://127.0.0.1:9/v1?key=s3cret', 'ftp://127.0.0.1']) {
      const refused = await conformance('--target', target, '--model', 'm')
      expect(refused.code).toBe(2)
      expect(refused.out + refused.fault).not.toContain('s3cret')
    }
    expect((await conformance('--peer', 'proxy', '--caller', 'chatt')).fault).toMatch(/chat/)
    expect((await conformance('--peer', 'proxy', '--only', 'nothing')).code).toBe(2)
  })
})

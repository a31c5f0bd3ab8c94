import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { buildIfStale } from '../../console/building/build.ts'
import { ENV, MAIN } from '../builders/paths.ts'
import { SOON, TIMED } from '../builders/time.ts'

/** Paths at which the built-in upstream answers with text. */
const TALKS = ['/v1/chat/completions', '/v1/responses', '/v1/messages', ':generateContent']

let dir: string
const running: Serving[] = []
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'serve-'))
})
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop('SIGKILL')
  rmSync(dir, { recursive: true })
})

interface Serving {
  readonly child: ChildProcess
  /** Returns everything written to standard output so far. */
  out(): string
  /** Returns everything written to standard error so far. */
  fault(): string
  readonly address: string
  stop(signal: NodeJS.Signals): Promise<number | null>
}

/** Starts the gateway in the test's folder. */
const serve = (...words: string[]): Promise<Serving> => serveIn(ENV, words)

async function serveIn(env: NodeJS.ProcessEnv, words: readonly string[]): Promise<Serving> {
  const child = spawn(process.execPath, [MAIN, ...words], { cwd: dir, env })
  let out = ''
  let fault = ''
  child.stdout.on('data', piece => (out += piece))
  child.stderr.on('data', piece => (fault += piece))
  const ended = new Promise<number | null>(resolve => child.once('exit', resolve))
  const listening = vi.waitFor(() => /listens on (\S+)/.exec(out)![1]!, { timeout: 60_000, interval: 50 })
  const early = ended.then(() => Promise.reject(new Error(`it ended: ${fault}`)))
  early.catch(() => {})
  listening.catch(() => {})
  const address = await Promise.race([listening, early])
  const stop = (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal)
    return ended
  }
  const one = { child, out: () => out, fault: () => fault, address, stop }
  running.push(one)
  return one
}

/** A chat upstream that answers each request when told to. */
async function slowUpstream() {
  const waiting: (() => void)[] = []
  const message = { role: 'assistant', content: 'Late.' }
  const answer = { id: 'late', choices: [{ index: 0, message, finish_reason: 'stop' }] }
  const server = createServer((_, response) => {
    waiting.push(() => response.setHeader('content-type', 'application/json').end(JSON.stringify(answer)))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${port}/v1`, waiting, close }
}

const keyIn = (out: string): string => /^key {6}(\S+)$/m.exec(out)![1]!

// Without the console's page no first user is created.
beforeAll(buildIfStale, 240_000)

describe('a gateway nobody configured', () => {
  it('prints a key once, and request lines for its endpoints that work unchanged', async () => {
    const first = await serve('--port', '0')
    await vi.waitFor(() => expect(first.out()).toContain('prints a sample request for each endpoint'), SOON)
    expect(first.out().trimEnd().split('\n').length).toBeLessThanOrEqual(12)
    const shown = first.out().match(/^ {2}curl .*$/gm)!
    expect(shown).toHaveLength(1)
    const words = ['examples', '--address', first.address, '--key', keyIn(first.out())]
    const { stdout: examples } = await promisify(execFile)(process.execPath, [MAIN, ...words], { cwd: dir, env: ENV })
    const lines = examples.match(/^ {2}(?:curl|ID=).*$/gm)!
    expect(lines).toHaveLength(18)
    expect(lines).toContain(shown[0])
    for (const line of lines) {
      const { stdout } = await promisify(execFile)('sh', ['-c', `${line} -w ' %{http_code}'`], { cwd: dir })
      expect(stdout, line).toMatch(/ 200$/)
      if (TALKS.some(door => line.includes(`${door}'`))) expect(stdout).toContain('Hello! This answer was recorded')
    }
    expect(readFileSync(join(dir, 'boat.mp4')).subarray(4, 8).toString()).toBe('ftyp')
    const key = keyIn(first.out())
    expect(readFileSync(join(dir, 'data/interlingua.sqlite'), 'latin1')).not.toContain(key)
    const password = /as admin with the password (\S+)$/m.exec(first.out())![1]!
    expect(readFileSync(join(dir, 'data/interlingua.sqlite'), 'latin1')).not.toContain(password)
    const signIn = (address: string) =>
      fetch(`${address}/admin/v1/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'admin', password }),
      })
    const signedIn = await signIn(first.address)
    expect([signedIn.status, ((await signedIn.json()) as { user: object }).user]).toEqual([
      ...[200, { name: 'admin', role: 'admin' }],
    ])
    expect(await first.stop('SIGINT')).toBe(0)

    const second = await serve('--port', '0')
    await vi.waitFor(() => expect(second.out()).toContain('keys     first'), SOON)
    expect(second.out()).not.toContain(key)
    expect(second.out()).not.toContain('password')
    expect((await signIn(second.address)).status).toBe(200)
    const response = await fetch(`${second.address}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
    expect(response.status).toBe(200)
    expect((await fetch(`${second.address}/v1/models`)).status).toBe(401)
    expect(await second.stop('SIGINT')).toBe(0)
  })
})

describe('a configured gateway', () => {
  const models = async (address: string): Promise<string[]> => {
    const response = await fetch(`${address}/v1/models`, { headers: { authorization: 'Bearer dev-secret' } })
    return ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id)
  }
  const write = (model: string, more = ''): void =>
    writeFileSync(
      join(dir, 'interlingua.yaml'),
      `server: { port: 0, drain: 0s }
keys: [{ name: dev, key: dev-secret }]
channels: [{ name: r, provider: replay, models: { ${model}: replay } }]\n${more}`,
    )

  it('takes a new config when the file changes and on SIGHUP, and keeps the old one where the new is faulty', async () => {
    // With configured keys and no console, nothing needs to be stored.
    write('one', 'console: false\n')
    const serving = await serve()
    expect(existsSync(join(dir, 'data'))).toBe(false)
    expect(serving.out()).toContain('keys     dev')
    expect(await models(serving.address)).toEqual(['one'])

    write('two')
    await vi.waitFor(async () => expect(await models(serving.address)).toEqual(['two']), SOON)

    writeFileSync(join(dir, 'interlingua.yaml'), 'server: { prot: 1 }\n')
    await vi.waitFor(() => expect(serving.out()).toContain('did you mean'), SOON)
    expect(await models(serving.address)).toEqual(['two'])

    write('three')
    serving.child.kill('SIGHUP')
    await vi.waitFor(async () => expect(await models(serving.address)).toEqual(['three']), SOON)
    expect(await serving.stop('SIGTERM')).toBe(0)
  })

  it('keeps the config where the file is emptied, with one line in the log, and takes what comes behind', async () => {
    const path = join(dir, 'interlingua.yaml')
    write('one')
    const serving = await serve()
    expect(serving.fault()).toMatch(/^warning: groups: "default" is not declared, so keys in no other group \(dev\)/m)

    writeFileSync(path, '# nothing yet\n')
    await vi.waitFor(() => expect(serving.out()).toContain('is empty'), SOON)
    expect(await models(serving.address)).toEqual(['one'])
    write('two')
    await vi.waitFor(async () => expect(await models(serving.address)).toEqual(['two']), SOON)
    const lines = serving
      .out()
      .match(/^\{.*the new config cannot be used.*\}$/gm)!
      .map(line => JSON.parse(line))
    expect(lines).toMatchObject([{ fault: 'interlingua.yaml: is empty' }])
    const warned = (): unknown => serving.out().match(/^\{.*is not declared, so keys.*\}$/gm)
    await vi.waitFor(() => expect(warned()).toHaveLength(1), SOON)
  })

  it('lets a request end whose channel a new config takes away, and one that runs when it is stopped', async () => {
    const upstream = await slowUpstream()
    const channel = (name: string): void =>
      writeFileSync(
        join(dir, 'interlingua.yaml'),
        `server: { port: 0, drain: 0s }
keys: [{ name: dev, key: dev-secret }]
channels: [{ name: ${name}, provider: custom, formats: [chat], base_url: "${upstream.url}", models: [${name}] }]\n`,
      )
    const ask = async (address: string, model: string): Promise<unknown> => {
      const headers = { authorization: 'Bearer dev-secret' }
      const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi.' }] })
      return (await fetch(`${address}/v1/chat/completions`, { method: 'POST', headers, body })).json()
    }
    channel('one')
    const serving = await serve()
    const first = ask(serving.address, 'one')
    await vi.waitFor(() => expect(upstream.waiting).toHaveLength(1), SOON)
    channel('two')
    await vi.waitFor(async () => expect(await models(serving.address)).toEqual(['two']), SOON)
    upstream.waiting.shift()!()
    expect(await first).toMatchObject({ choices: [{ message: { content: 'Late.' } }] })

    const second = ask(serving.address, 'two')
    await vi.waitFor(() => expect(upstream.waiting).toHaveLength(1), SOON)
    const ended = serving.stop('SIGTERM')
    await vi.waitFor(() => expect(fetch(`${serving.address}/healthz`)).rejects.toThrow(), SOON)
    upstream.waiting.shift()!()
    expect(await second).toMatchObject({ choices: [{ message: { content: 'Late.' } }] })
    expect(await ended).toBe(0)
    upstream.close()
  })

  describe('that is asked to stop', () => {
    const configured = async (env: NodeJS.ProcessEnv = {}) => {
      const upstream = await slowUpstream()
      writeFileSync(
        join(dir, 'interlingua.yaml'),
        `server: { port: 0, drain: 1500ms }
keys: [{ name: dev, key: dev-secret }]
channels: [{ name: one, provider: custom, formats: [chat], base_url: "${upstream.url}", models: [m] }]\n`,
      )
      return { upstream, serving: await serveIn({ ...ENV, ...env }, []) }
    }
    const ready = async (address: string): Promise<number> => (await fetch(`${address}/readyz`)).status
    const took = async (ended: Promise<unknown>): Promise<number> => {
      const began = Date.now()
      await ended
      return Date.now() - began
    }

    it('by SIGTERM is not ready for a while, but answers all the same', TIMED, async () => {
      const { upstream, serving } = await configured()
      expect(await ready(serving.address)).toBe(200)
      const ended = serving.stop('SIGTERM')
      const ending = took(ended)
      await vi.waitFor(async () => expect(await ready(serving.address)).toBe(503), SOON)
      expect(await models(serving.address)).toEqual(['m'])
      expect(await ending).toBeGreaterThan(1300)
      expect(await ended).toBe(0)
      expect(serving.out()).toContain('"msg":"stopping"')
      upstream.close()
    })

    it('by Ctrl-C stops at once where nothing runs', TIMED, async () => {
      const { upstream, serving } = await configured()
      expect(await took(serving.stop('SIGINT'))).toBeLessThan(1200)
      upstream.close()
    })

    it.runIf(existsSync('/dev/full'))('ends although its log cannot be written', TIMED, async () => {
      const { upstream } = await configured()
      const full = openSync('/dev/full', 'w')
      const child = spawn(process.execPath, [MAIN], { cwd: dir, env: ENV, stdio: ['ignore', full, 'pipe'] })
      closeSync(full)
      let fault = ''
      child.stderr!.on('data', piece => (fault += piece))
      await vi.waitFor(() => expect(fault).toContain('the log cannot be written'), SOON)
      const ended = new Promise<number | null>(resolve => child.once('exit', resolve))
      child.kill('SIGINT')
      expect(await took(ended)).toBeLessThan(4000)
      expect(await ended).toBe(0)
      expect(fault.match(/the log cannot/g)).toHaveLength(1)
      upstream.close()
    })

    it("by Ctrl-C below npm stops in order, although npm repeats the terminal's signal", TIMED, async () => {
      const { upstream, serving } = await configured({ npm_lifecycle_event: 'start' })
      const ended = serving.stop('SIGINT')
      serving.stop('SIGINT').catch(() => {})
      expect(await ended).toBe(0)
      expect(serving.out()).toContain('"msg":"stopping"')
      upstream.close()
    })

    it('twice stops at once, whatever runs', TIMED, async () => {
      const { upstream, serving } = await configured()
      const headers = { authorization: 'Bearer dev-secret' }
      const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi.' }] })
      const asked = fetch(`${serving.address}/v1/chat/completions`, { method: 'POST', headers, body })
      asked.catch(() => {})
      await vi.waitFor(() => expect(upstream.waiting).toHaveLength(1), SOON)
      const ended = serving.stop('SIGTERM')
      await vi.waitFor(async () => expect(await ready(serving.address)).toBe(503), SOON)
      expect(await took(serving.stop('SIGTERM'))).toBeLessThan(1000)
      expect(await ended).toBe(1)
      upstream.close()
    })
  })

  it('ends where its address is taken, and makes no key that nobody would see', async () => {
    const serving = await serve('--port', '0')
    const other = mkdtempSync(join(tmpdir(), 'serve-'))
    const words = [MAIN, '--port', new URL(serving.address).port]
    await expect(promisify(execFile)(process.execPath, words, { cwd: other, env: ENV })).rejects.toThrow(
      /in use by another program \(EADDRINUSE\): change server\.port, or start with --port PORT/,
    )
    expect(existsSync(join(other, 'data'))).toBe(false)
    rmSync(other, { recursive: true })
  })

  it('does not start on a faulty config', async () => {
    writeFileSync(join(dir, 'interlingua.yaml'), 'chanels: []\n')
    await expect(serve()).rejects.toThrow('interlingua.yaml:1: chanels: unknown key; did you mean "channels"?')
  })
})

import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { events, HEAD, TAIL, words } from '../../builders/chat.ts'
import { opener } from '../../builders/opener.ts'
import { MAIN } from '../../builders/paths.ts'
import { type Answered, SERVING_KEY, Serving } from '../../builders/serving.ts'
import { pause, TIMED, until } from '../../builders/time.ts'
import type { Script } from '../../builders/upstream.ts'

const ANSWER = {
  id: 'answer',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}

/** Answers after a delay in milliseconds. */
const answering =
  (milliseconds: number): Script =>
  response =>
    setTimeout(() => response.setHeader('content-type', 'application/json').end(JSON.stringify(ANSWER)), milliseconds)

const failing: Script = response => {
  response.statusCode = 503
  response.end('{}')
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Returns the ids of all descendants of a process. */
function descendants(pid: number): number[] {
  const { stdout } = spawnSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
  const children = stdout.split('\n').filter(Boolean).map(Number)
  return [...children, ...children.flatMap(descendants)]
}

describe('workers', TIMED, () => {
  const { closing, openUpstream } = opener()

  const configOf = (urls: readonly string[], fields: { group?: object; data?: string } = {}) => ({
    server: { port: 0, drain: '0s', grace: '5s', workers: 2 },
    data_dir: fields.data ?? 'data',
    groups: { default: { models: ['*'], ...fields.group } },
    keys: [{ name: 'dev', key: SERVING_KEY, group: 'default' }],
    channels: urls.map((url, index) => ({
      ...{ name: `c${index}`, provider: 'custom', formats: ['chat'], base_url: `${url}/v1`, key: 'upstream-key' },
      ...{ models: ['m'], priority: index },
    })),
  })

  const start = async (config: object): Promise<Serving> => {
    const serving = await Serving.start(config)
    closing.push(() => serving.close())
    await until(() => serving.workers.length === 2)
    return serving
  }

  /** Sends requests one after the other in several lanes until stopped. Half of the lanes reuse their connections. */
  const load = (serving: Serving, lanes: number) => {
    const answered: Answered[] = []
    const broken: unknown[] = []
    let stopped = false
    const agent = new Agent({ keepAlive: true })
    const lane = async (index: number): Promise<void> => {
      while (!stopped)
        await serving.chat('m', index % 2 === 0 && agent).then(
          one => answered.push(one),
          fault => broken.push(fault),
        )
    }
    const all = Promise.all(Array.from({ length: lanes }, (_, index) => lane(index)))
    const stop = async (): Promise<void> => {
      stopped = true
      await all
      agent.destroy()
    }
    return { answered, broken, stop }
  }

  test('one that is killed takes its own requests with it and no others, and is replaced at once', async () => {
    const upstream = await openUpstream(answering(20))
    const serving = await start(configOf([upstream.address]))
    const before = serving.workers
    const { answered, broken, stop } = load(serving, 16)
    await until(() => answered.length > 50)
    process.kill(before[0]!, 'SIGKILL')
    await until(() => serving.lines('a worker died and is replaced').length === 1)
    await until(() => serving.workers.length === 2 && !serving.workers.includes(before[0]!))
    const failed = broken.length
    const count = answered.length
    await until(() => answered.length > count + 200)
    await stop()
    expect(failed).toBeLessThanOrEqual(16)
    expect(broken.length).toBeLessThanOrEqual(16)
    expect(answered.filter(({ status }) => status !== 200)).toEqual([])
    expect(serving.workers).toContain(before[1])
  })

  test.each<[string, (file: string) => void]>([
    ['faulty', file => writeFileSync(file, '{ channels: [')],
    ['emptied', file => writeFileSync(file, '')],
    ['gone', file => rmSync(file)],
  ])('one that is killed while the config file is %s is replaced by one with the config in use', async (_, spoil) => {
    const upstream = await openUpstream(answering(0))
    const config = configOf([upstream.address])
    const serving = await start(config)
    const before = serving.workers
    spoil(join(serving.dir, 'interlingua.json'))
    await until(() => serving.lines('the new config cannot be used; the previous one stays in use').length > 0)
    for (const pid of before) process.kill(pid, 'SIGKILL')
    await until(() => serving.lines('a dead worker was replaced').length === 2)
    expect(serving.lines('a worker died and is replaced')).toHaveLength(2)
    expect((await serving.chat('m')).status).toBe(200)
    // The workers also take the requests that follow.
    serving.write({ ...config, keys: [{ name: 'other', key: 'another-secret' }] })
    const answers = () => Promise.all(Array.from({ length: 8 }, async () => (await serving.chat('m')).status))
    await expect.poll(answers).toEqual(Array(8).fill(401))
  })

  test('are replaced one after the other by a change that needs new processes, and no request fails', async () => {
    const upstream = await openUpstream(answering(20))
    const config = configOf([upstream.address])
    const serving = await start(config)
    const before = serving.workers
    const { answered, broken, stop } = load(serving, 16)
    await until(() => answered.length > 50)
    serving.write({ ...config, data_dir: 'elsewhere' })
    await until(() => serving.workers.length >= 2 && !serving.workers.some(pid => before.includes(pid)), 60_000)
    const count = answered.length
    await until(() => answered.length > count + 100)
    await stop()
    expect(broken).toEqual([])
    expect(answered.filter(({ status }) => status !== 200)).toEqual([])
    expect(serving.lines('a worker died and is replaced')).toEqual([])
    expect(serving.workers).toHaveLength(2)
  })

  test('finish long answers after their replacement, until the gateway stops', async () => {
    const streaming: ServerResponse[] = []
    const upstream = await openUpstream(response => {
      streaming.push(response)
      events(response).write(`${HEAD}${words('Hello.')}`)
    })
    const config = configOf([upstream.address])
    config.server.grace = '300ms'
    const serving = await start(config)
    const body = { model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi.' }] }
    const ask = async (): Promise<string> => {
      const answer = await fetch(`${serving.address}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${SERVING_KEY}` },
        body: JSON.stringify(body),
      })
      return answer.text()
    }
    const [whole, cut] = [ask(), ask()]
    await until(() => streaming.length === 2)
    serving.write({ ...config, metrics: { port: 0 } })
    await until(() => serving.lines('config reloaded').length === 1)
    // Retired processes give their connections a second before they close.
    await pause(2500)
    streaming[0]!.end(TAIL)
    expect((await Promise.race([whole, cut])).trimEnd()).toMatch(/\[DONE\]$/)
    const ended = serving.stop('SIGTERM')
    const texts = await Promise.all([whole, cut])
    expect(texts.filter(text => text.includes('"error"'))).toHaveLength(1)
    expect(await ended).toBe(0)
  })

  test('share one set of limits: of 1,000 requests at once exactly those get through that the limit has room for', async () => {
    const upstream = await openUpstream(answering(0))
    const serving = await start(configOf([upstream.address], { group: { rpm: 100 } }))
    const began = performance.now()
    const statuses = (await Promise.all(Array.from({ length: 1000 }, () => serving.chat('m')))).map(one => one.status)
    const refilled = ((performance.now() - began) * 100) / 60_000
    const through = statuses.filter(status => status === 200).length
    expect(statuses.filter(status => status !== 200 && status !== 429)).toEqual([])
    expect(through).toBeGreaterThanOrEqual(100)
    expect(through).toBeLessThanOrEqual(101 + refilled)
    expect(upstream.seen).toHaveLength(through)
  })

  test('count on: the metrics keep what one counted that was killed, was replaced or does not answer', async () => {
    const upstream = await openUpstream(answering(0))
    const config = { ...configOf([upstream.address]), metrics: { key: 'scraper' } }
    const serving = await start(config)
    const ask = async (count: number): Promise<void> => {
      for (let index = 0; index < count; index++) expect((await serving.chat('m')).status).toBe(200)
    }
    const counted = async (): Promise<number> => {
      const headers = { authorization: 'Bearer scraper' }
      const page = await (await fetch(`${serving.address}/metrics`, { headers })).text()
      return Number(/^interlingua_requests_total\{.*status="2xx"\} (\d+)$/m.exec(page)![1])
    }
    await ask(40)
    await expect.poll(counted).toBe(40)
    const [first] = serving.workers
    process.kill(first!, 'SIGKILL')
    await until(() => serving.lines('a dead worker was replaced').length === 1)
    expect(await counted()).toBe(40)
    await ask(10)
    await expect.poll(counted).toBe(50)
    await ask(10)
    const before = serving.workers
    serving.write({ ...config, data_dir: 'elsewhere' })
    await until(() => serving.workers.length === 2 && !serving.workers.some(pid => before.includes(pid)), 60_000)
    // Not scraped since the last requests.
    expect(await counted()).toBe(60)
    const [stopped] = serving.workers
    await ask(10)
    await expect.poll(counted).toBe(70)
    process.kill(stopped!, 'SIGSTOP')
    expect(await counted()).toBe(70)
    process.kill(stopped!, 'SIGCONT')
  })

  test('give back the places of one that died', async () => {
    const upstream = await openUpstream(() => {})
    const serving = await start(configOf([upstream.address], { group: { concurrent: 6 } }))
    const broken: unknown[] = []
    const ask = (): void => void serving.chat('m').catch(fault => broken.push(fault))
    for (let index = 0; index < 6; index++) ask()
    await until(() => upstream.seen.length === 6)
    expect((await serving.chat('m')).status).toBe(429)
    for (const pid of serving.workers) {
      const waiting = broken.length
      const replaced = serving.lines('a dead worker was replaced').length
      process.kill(pid, 'SIGKILL')
      await until(() => serving.lines('a dead worker was replaced').length > replaced)
      const given = broken.length - waiting
      const seen = upstream.seen.length
      for (let index = 0; index < given; index++) ask()
      await until(() => upstream.seen.length === seen + given)
      expect((await serving.chat('m')).status).toBe(429)
    }
    expect(broken.length).toBeGreaterThanOrEqual(6)
  })

  test('know what rests at any of them', async () => {
    const [bad, good] = [await openUpstream(failing), await openUpstream(answering(0))]
    const serving = await start(configOf([bad.address, good.address]))
    const [first, second] = serving.workers as [number, number]
    // A stopped process accepts no connections, so the other one answers.
    process.kill(first, 'SIGSTOP')
    expect((await serving.chat('m')).status).toBe(200)
    expect(bad.seen).toHaveLength(1)
    process.kill(first, 'SIGCONT')
    await pause(1000)
    process.kill(second, 'SIGSTOP')
    expect((await serving.chat('m')).status).toBe(200)
    process.kill(second, 'SIGCONT')
    expect(bad.seen).toHaveLength(1)
    expect(good.seen).toHaveLength(2)
  })

  test('end with their primary, whole lines in the log, and what runs may finish', async () => {
    const upstream = await openUpstream(answering(700))
    const serving = await start(configOf([upstream.address]))
    const running = Array.from({ length: 20 }, () => serving.chat('m'))
    await until(() => upstream.seen.length === 20)
    const workers = serving.workers
    const ended = serving.stop('SIGTERM')
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect(await ended).toBe(0)
    expect(serving.lines('request')).toHaveLength(20)
    for (const pid of workers) expect(() => process.kill(pid, 0)).toThrow()
  })

  test('do not outlive a primary that is killed', async () => {
    const upstream = await openUpstream(answering(0))
    const serving = await start(configOf([upstream.address]))
    const workers = serving.workers
    await serving.stop('SIGKILL')
    await until(() => !workers.some(isAlive))
  })

  test('end with the npm that started them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'npm-start-'))
    closing.push(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'interlingua.json')
    writeFileSync(file, JSON.stringify({ ...configOf(['http://127.0.0.1:1']), data_dir: folder }))
    const npm = spawn('npm', ['start', '--', '-c', file], {
      cwd: dirname(dirname(MAIN)),
      env: { PATH: process.env['PATH'] },
    })
    let out = ''
    npm.stdout.on('data', piece => (out += piece))
    await until(() => out.includes('listens on'), 60_000)
    const all = descendants(npm.pid!)
    expect(all.length).toBeGreaterThanOrEqual(3)
    npm.kill('SIGTERM')
    await until(() => descendants(npm.pid!).length === 0 && !all.some(isAlive))
    expect(out).toContain('"stopping"')
  })

  test('that cannot start end the program with the reason', async () => {
    const upstream = await openUpstream(answering(0))
    const port = Number(new URL(upstream.address).port)
    const config = configOf([upstream.address])
    await expect(Serving.start({ ...config, server: { ...config.server, port } })).rejects.toThrow('EADDRINUSE')
  })

  test('come and go with their number in the config, which they apply without new processes', async () => {
    const upstream = await openUpstream(answering(0))
    const config = configOf([upstream.address])
    const serving = await start(config)
    const before = serving.workers
    serving.write({ ...config, server: { ...config.server, workers: 3 }, groups: { default: { models: ['none'] } } })
    await until(() => serving.workers.length === 3)
    expect(serving.workers).toEqual(expect.arrayContaining(before))
    await until(() => serving.lines('config reloaded').length > 0)
    expect((await serving.chat('m')).status).toBe(403)
  })

  test('go on where a change needs new ones that cannot start, and read the file again when told to', async () => {
    const upstream = await openUpstream(answering(0))
    const config = configOf([upstream.address])
    const serving = await start(config)
    const before = serving.workers
    const port = Number(new URL(upstream.address).port)
    serving.write({ ...config, server: { ...config.server, port } })
    const message = 'new workers cannot start; the others keep running with the previous config'
    await until(() => serving.lines(message).length === 1, 60_000)
    expect(String(serving.lines(message)[0]!['fault'])).toContain('EADDRINUSE')
    expect((await serving.chat('m')).status).toBe(200)
    expect(serving.workers).toEqual(before)

    serving.write({ ...config, groups: { default: { models: ['none'] } } })
    serving.child.kill('SIGHUP')
    await until(() => serving.lines('config reloaded').length > 0)
    await pause(500)
    expect((await serving.chat('m')).status).toBe(403)
    expect(serving.workers).toEqual(before)
  })
})

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { KEY } from '../../builders/config.ts'
import { noticeDead, ON_FILES, storeAt, written } from '../../builders/engines.ts'
import { ENV, MAIN } from '../../builders/paths.ts'
import { until } from '../../builders/time.ts'
import { Speaker, scratch } from './test-server.ts'

/* Gateways in separate processes that share a store and are killed. */
let data: ReturnType<typeof scratch>
let speaker: Speaker
const running: ChildProcess[] = []

beforeEach(async () => {
  data = scratch()
  speaker = await Speaker.open('chat')
  speaker.gate = new Promise(() => {})
  const config = {
    data_dir: join(data.path, 'data'),
    store: written(storeAt(join(data.path, 'data'))),
    keys: [{ name: 'dev', key: KEY, group: 'default' }],
    channels: [
      {
        name: 'near',
        provider: 'custom',
        formats: ['chat'],
        base_url: `${speaker.upstream.address}/v1`,
        models: ['m'],
      },
    ],
  }
  writeFileSync(join(data.path, 'interlingua.yaml'), JSON.stringify(config))
})
afterEach(async () => {
  for (const child of running.splice(0)) await killed(child)
  await speaker.upstream.close()
  data.drop()
})

/** Waits until others notice a dead process: at once if it held a file lock, after a timeout if a server is shared. */
const noticed = () => new Promise(resolve => setTimeout(resolve, ON_FILES ? 0 : 21_000))

function killed(child: ChildProcess): Promise<unknown> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  const ended = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGKILL')
  return ended
}

async function start(): Promise<{ client: OpenAI; child: ChildProcess }> {
  const child = spawn(process.execPath, [MAIN, '--port', '0'], { cwd: data.path, env: ENV })
  running.push(child)
  let out = ''
  child.stdout.on('data', piece => (out += piece))
  child.stderr.on('data', piece => (out += piece))
  const address = await vi.waitFor(
    () => {
      const found = /listens on (\S+)/.exec(out)?.[1]
      if (found === undefined) throw new Error(`it does not listen: ${out}`)
      return found
    },
    { timeout: 60_000, interval: 50 },
  )
  return { client: new OpenAI({ baseURL: `${address}/v1`, apiKey: KEY, maxRetries: 0 }), child }
}

const begin = (client: OpenAI) => client.responses.create({ model: 'm', input: 'Hi!', background: true })

test('what a killed process worked on has failed as soon as the next knows of it, and can be built on', async () => {
  const first = await start()
  const { id } = await begin(first.client)
  await until(() => speaker.bodies.length === 1)
  await killed(first.child)
  await noticeDead(join(data.path, 'data'))
  const second = await start()
  const look = () => second.client.responses.retrieve(id)
  // Beside a server, a process is dead once it has been silent for some seconds.
  if (!ON_FILES) await expect.poll(async () => (await look()).status, { timeout: 20_000, interval: 500 }).toBe('failed')
  const failed = await look()
  expect(failed).toMatchObject({ id, status: 'failed', error: { code: 'server_error' }, background: true })
  expect(failed.error!.message).toContain('interrupted')
  expect(await second.client.responses.retrieve(id)).toEqual(failed)
  const types: string[] = []
  for await (const { type } of await second.client.responses.retrieve(id, { stream: true })) types.push(type)
  expect(types).toEqual(['response.created', 'response.queued', 'response.failed'])
  expect(await second.client.responses.cancel(id)).toMatchObject({ status: 'failed' })
  speaker.gate = undefined
  const next = await second.client.responses.create({ model: 'm', input: 'Go on.', previous_response_id: id })
  expect(next.status).toBe('completed')
})

test('another process says it has failed once its own is dead, and not before', async () => {
  const [one, other] = [await start(), await start()]
  const { id } = await begin(one.client)
  await until(() => speaker.bodies.length === 1)
  await expect.poll(async () => (await other.client.responses.retrieve(id)).status).toBe('in_progress')
  one.child.kill('SIGSTOP')
  await new Promise(resolve => setTimeout(resolve, 1000))
  expect((await other.client.responses.retrieve(id)).status).toBe('in_progress')
  const told = (async () => {
    const types: string[] = []
    for await (const { type } of await other.client.responses.retrieve(id, { stream: true })) types.push(type)
    return types
  })()
  await killed(one.child)
  await noticed()
  expect((await other.client.responses.retrieve(id)).status).toBe('failed')
  expect((await told).at(-1)).toBe('response.failed')
})

test('a process cancels what another works on', async () => {
  const [one, other] = [await start(), await start()]
  const { id } = await begin(one.client)
  await until(() => speaker.bodies.length === 1)
  expect(await other.client.responses.cancel(id)).toMatchObject({ id, status: 'cancelled' })
  await until(() => speaker.upstream.seen[0]!.brokenAt !== undefined)
  for (const { client } of [one, other])
    expect(await client.responses.retrieve(id)).toMatchObject({ status: 'cancelled', error: null })
})

test.runIf(ON_FILES)('a process that is stopped leaves no file of its own behind', async () => {
  const { client, child } = await start()
  await begin(client)
  const folder = join(data.path, 'data/processes')
  expect(readdirSync(folder)).toHaveLength(1)
  const ended = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
  expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([])
})

import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, it, vi } from 'vitest'
import { ANSWER } from '../../builders/chat.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { ENV, MAIN } from '../../builders/paths.ts'
import { SERVING_KEY, Serving } from '../../builders/serving.ts'
import { TIMED } from '../../builders/time.ts'
import { FakeUpstream } from '../../builders/upstream.ts'

const closing = closingAfterEach()
const SECRET = 'sk-planted-in-two-processes-4Wd6Xe'

it(
  'a gateway without channels is configured by the API alone, at each of its processes within a second',
  TIMED,
  async () => {
    const upstream = await FakeUpstream.open(response =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(ANSWER)),
    )
    closing.push(() => upstream.close())
    const serving = await Serving.start({ server: { port: 0, workers: 2 }, keys: [{ name: 'dev', key: SERVING_KEY }] })
    closing.push(() => serving.close())
    const made = await promisify(execFile)(process.execPath, [MAIN, 'admin', 'token', 'tests'], {
      cwd: serving.dir,
      env: ENV,
    })
    const admin = async (method: string, path: string, body?: object) => {
      const answer = await fetch(`${serving.address}/admin/v1${path}`, {
        ...{ method, headers: { authorization: `Bearer ${made.stdout.trim()}`, connection: 'close' } },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      expect(text).not.toContain(SECRET)
      // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
      return { status: answer.status, json: (text === '' ? undefined : JSON.parse(text)) as any }
    }
    /** Statuses of requests on new connections, which the workers take in turn. */
    const statuses = async (model: string): Promise<readonly number[]> => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => serving.chat(model)))
      return [...new Set(answers.map(({ status }) => status))]
    }
    const everywhere = (model: string, status: number) =>
      vi.waitFor(async () => expect(await statuses(model)).toEqual([status]), { timeout: 1000, interval: 50 })

    expect(await statuses('replay')).toEqual([200])
    expect((await admin('GET', '/channels')).json.data[0]).toMatchObject({ name: 'replay', source: 'environment' })
    const channel = {
      name: 'mine',
      provider: 'custom',
      base_url: `${upstream.address}/v1`,
      formats: ['chat'],
      key: SECRET,
    }
    expect((await admin('POST', '/channels', { ...channel, models: ['m'] })).status).toBe(201)
    await everywhere('m', 200)
    await everywhere('replay', 404)
    await admin('PATCH', '/channels/mine', { models: { smart: 'm' } })
    await everywhere('m', 404)
    await everywhere('smart', 200)
    await admin('DELETE', '/channels/mine')
    await everywhere('replay', 200)

    await admin('POST', '/channels', { ...channel, models: ['m'] })
    await everywhere('m', 200)
    expect(await serving.stop()).toBe(0)
    expect(serving.out + serving.fault).not.toContain(SECRET)
    for (const one of globSync(`${serving.dir}/**/*`, { withFileTypes: true }).filter(one => one.isFile()))
      expect(readFileSync(`${one.parentPath}/${one.name}`).includes(SECRET), one.name).toBe(false)
  },
)

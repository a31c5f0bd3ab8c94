import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KEY } from '../builders/config.ts'
import { type Demo, openDemo } from '../builders/demo.ts'
import { TestServer } from '../builders/gateway.ts'

const START = readFileSync('docs/start.md', 'utf8')
const run = promisify(execFile)

describe('trap 124: commands of the first page that save a file', () => {
  let dir: string
  const replays: Demo[] = []
  const gateways: TestServer[] = []
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'readme-'))
    for (let instance = 0; instance < 2; instance++) {
      const replay = await openDemo()
      replays.push(replay)
      gateways.push(await TestServer.open(replay.channels, { keep: join(dir, 'data') }))
    }
  })
  afterAll(async () => {
    for (const { server } of gateways) await server.close(0)
    for (const replay of replays) await replay.close()
    rmSync(dir, { recursive: true })
  })

  const video = /^ID=\$\(curl[\s\S]*?-o boat\.mp4$/m.exec(START)![0]
  const paste = (key: string) =>
    run('bash', ['-c', video], {
      cwd: dir,
      env: {
        ...{ PATH: process.env['PATH'], IL: gateways[0]!.server.address },
        ...{ BEARER: `authorization: Bearer ${key}`, JSON: 'content-type: application/json' },
      },
    })

  test('all fail where the answer is an error', () => {
    const saving = START.split('\n').filter(line => line.startsWith('curl ') && line.includes(' -o '))
    expect(saving.length).toBeGreaterThanOrEqual(2)
    expect(saving.filter(line => !line.startsWith('curl -sSf '))).toEqual([])
  })

  test('wait for the video, and save it alone', async () => {
    await expect(paste('wrong')).rejects.toThrow('401')
    expect(existsSync(join(dir, 'boat.mp4'))).toBe(false)
    const began = Date.now()
    await paste(KEY)
    expect(Date.now() - began).toBeLessThan(20_000)
    expect(readFileSync(join(dir, 'boat.mp4')).subarray(4, 8).toString()).toBe('ftyp')
  }, 30_000)

  test('a demo video polled each second at two instances is queued, in progress and completed', async () => {
    const clients = gateways.map(
      ({ server }) => new OpenAI({ apiKey: KEY, baseURL: `${server.address}/v1`, maxRetries: 0 }),
    )
    const made = await clients[0]!.videos.create({ model: 'replay', prompt: 'A boat.' })
    const states = new Set([made.status])
    for (let poll = 1; poll <= 15 && !states.has('completed'); poll++) {
      await new Promise(resolve => setTimeout(resolve, 1000))
      states.add((await clients[poll % 2]!.videos.retrieve(made.id)).status)
    }
    expect([...states]).toEqual(['queued', 'in_progress', 'completed'])
  }, 30_000)
})

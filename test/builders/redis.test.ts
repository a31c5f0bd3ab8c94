import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { accepts, HAS_REDIS } from './redis.ts'

const OPENER = `
const { RedisServer } = await import('./test/builders/redis.ts')
const { port, folder } = await RedisServer.open()
process.stdout.write(JSON.stringify({ port, folder }))
process.kill(process.pid, 'SIGKILL')
`

test.skipIf(!HAS_REDIS)('a server ends, and its folder goes, when whoever opened it is killed', async () => {
  const opener = spawn(process.execPath, ['--input-type=module', '-e', OPENER], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said] = await Promise.all([text(opener.stdout), once(opener, 'exit')])
  const { port, folder } = JSON.parse(said) as { readonly port: number; readonly folder: string }
  expect(port).toBeGreaterThan(0)
  await expect.poll(async () => (await accepts(port)) || existsSync(folder)).toBe(false)
})

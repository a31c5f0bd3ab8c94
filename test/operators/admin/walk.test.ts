import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, vi } from 'vitest'
import { ANSWER, ASK } from '../../builders/chat.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { ENGINE, storeAt, written } from '../../builders/engines.ts'
import { CHAT_PATH, ENV, MAIN } from '../../builders/paths.ts'
import { SOON, TIMED } from '../../builders/time.ts'
import { FakeUpstream } from '../../builders/upstream.ts'

const closing = closingAfterEach()
/** Starts a gateway in a separate process with a config file, and creates a token with the command line. */
async function start() {
  const upstream = await FakeUpstream.open(response =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify(ANSWER)),
  )
  closing.push(() => upstream.close())
  const cwd = mkdtempSync(join(tmpdir(), 'walk-'))
  closing.push(() => rmSync(cwd, { recursive: true }))
  const channel = `{ name: one, provider: custom, base_url: "${upstream.address}/v1", formats: [chat], models: [m] }`
  const config = [
    'data_dir: ./data',
    `store: "${written(storeAt(join(cwd, 'data')))}"`,
    'server: { port: 0 }',
    'models: { m: { price: { input: 1, output: 2 } } }',
  ]
  writeFileSync(join(cwd, 'interlingua.yaml'), [...config, `channels: [${channel}]`].join('\n'))
  const child = spawn(process.execPath, [MAIN, 'serve'], { cwd, env: ENV })
  const ended = new Promise(resolve => child.once('exit', resolve))
  closing.push(async () => {
    child.kill('SIGTERM')
    await ended
  })
  let out = ''
  child.stdout.on('data', piece => (out += piece))
  child.stderr.resume()
  const address = await vi.waitFor(() => /listens on (\S+)/.exec(out)![1]!, { timeout: 60_000, interval: 50 })
  const made = await promisify(execFile)(process.execPath, [MAIN, 'admin', 'token', 'walk'], { cwd, env: ENV })
  return { address, token: made.stdout.trim() }
}

it('makes a key, uses it, finds the request, and revokes the key within a second', TIMED, async () => {
  const { address, token } = await start()
  const admin = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`${address}/admin/v1${path}`, {
      ...{ method, headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
    return { status: answer.status, json: (await answer.json().catch(() => undefined)) as any }
  }
  const { id, secret } = (await admin('POST', '/keys', { name: 'walker', budget: { day: 5 } })).json
  const use = () =>
    fetch(`${address}${CHAT_PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(ASK),
    })
  const used = await use()
  expect(used.status).toBe(200)
  const request = used.headers.get('x-request-id')!

  const row = await vi.waitFor(
    async () => {
      const found = await admin('GET', `/requests/${request}`)
      expect(found.status).toBe(200)
      return found.json
    },
    { ...SOON, interval: 100 },
  )
  const tokens = { input_tokens: 5, output_tokens: 2, cost: 0.000009 }
  expect(row).toMatchObject({ key: id, key_name: 'walker', channel: 'one', model: 'm', status: 200, ...tokens })
  const sums = (await admin('GET', `/usage?by=key&key=${id}`)).json.data
  expect(sums).toMatchObject([{ key: id, key_name: 'walker', requests: 1, errors: 0, ...tokens }])
  expect((await admin('GET', '/status')).json).toMatchObject({ store: { engine: ENGINE }, workers: 1 })

  expect((await admin('DELETE', `/keys/${id}`)).status).toBe(204)
  const revoked = performance.now()
  await vi.waitFor(async () => expect((await use()).status).toBe(401), { timeout: 1000, interval: 20 })
  expect(performance.now() - revoked).toBeLessThan(1000)
  const seen = (await admin('GET', `/requests?key=${id}`)).json.data
  expect(seen.map((one: { id: string }) => one.id)).toContain(request)
})

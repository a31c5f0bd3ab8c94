import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openProxy } from '../../../../src/kit/conformance/proxy/index.ts'
import { runSessions } from '../../../../src/kit/conformance/sockets/run-sessions.ts'
import type { SessionSaboteur } from '../../../../src/kit/conformance/sockets/saboteurs/saboteur.ts'
import { readSessions } from '../../../../src/kit/conformance/sockets/session-scenario.ts'
import { SessionUpstream } from '../../../../src/kit/conformance/sockets/session-upstream.ts'
import { Upstream } from '../../../../src/kit/conformance/upstream.ts'

/* Every saboteur of sessions is caught by exactly the checks that it names. */

const FOLDER = join(import.meta.dirname, '../../../../src/kit/conformance/sockets/saboteurs')
const NAMES = readdirSync(FOLDER)
  .filter(name => name !== 'saboteur.ts')
  .map(name => name.replace(/\.ts$/, ''))
const FORMATS = ['realtime', 'realtime.beta', 'live']

let upstream: Upstream
let sessions: SessionUpstream
beforeAll(async () => {
  upstream = await Upstream.open()
  sessions = new SessionUpstream(upstream)
})
afterAll(async () => {
  sessions.close()
  await upstream.close()
})

test.each(NAMES)('%s', async name => {
  const { saboteur } = (await import(join(FOLDER, `${name}.ts`))) as { saboteur: SessionSaboteur }
  expect(saboteur.name).toBe(name)
  expect(saboteur.caught).not.toEqual([])
  const { meddling: frames, secret, headers } = saboteur
  const meddling = { ...(frames && { frames }), ...(secret && { secret }), ...(headers && { headers }) }
  const proxy = await openProxy({ upstream: upstream.root, meddling })
  const bases = Object.fromEntries(
    FORMATS.map(format => [format, upstream.base(format).replace(upstream.root, proxy.root)]),
  )
  const target = { name, bases, key: 'kit-key', model: () => 'kit', translates: false }
  const wanted = { callers: FORMATS, upstreams: FORMATS, sessions: readSessions(), only: saboteur.cell }
  const results = await runSessions({ target, upstream: sessions, frameTimeoutMs: 1000, ...wanted })
  await proxy.close()
  expect(results.length).toBe(1)
  const failed = results[0]!.checks.filter(({ status }) => status === 'fail' || status === 'harness-error')
  expect(failed.map(({ rule }) => rule).sort()).toEqual([...saboteur.caught].sort())
})

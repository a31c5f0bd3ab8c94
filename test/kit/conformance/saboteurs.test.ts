import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FORMATS } from '../../../src/kit/conformance/formats/index.ts'
import { openProxy } from '../../../src/kit/conformance/proxy/index.ts'
import { run } from '../../../src/kit/conformance/run.ts'
import type { Saboteur } from '../../../src/kit/conformance/saboteurs/saboteur.ts'
import { readScenarios } from '../../../src/kit/conformance/scenario.ts'
import { Upstream } from '../../../src/kit/conformance/upstream.ts'

/* Every saboteur is caught by exactly the checks that it names. */

const FOLDER = join(import.meta.dirname, '../../../src/kit/conformance/saboteurs')
const NAMES = readdirSync(FOLDER)
  .filter(name => name !== 'saboteur.ts')
  .map(name => name.replace(/\.ts$/, ''))
const SCENARIOS = readScenarios()
const CALLERS = Object.keys(FORMATS)

let upstream: Upstream
beforeAll(async () => {
  upstream = await Upstream.open()
})
afterAll(() => upstream.close())

test.each(NAMES)('%s', async name => {
  const { saboteur } = (await import(join(FOLDER, `${name}.ts`))) as { saboteur: Saboteur }
  expect(saboteur.name).toBe(name)
  expect(saboteur.caught).not.toEqual([])
  const proxy = await openProxy({ upstream: upstream.root, meddling: saboteur })
  const bases = Object.fromEntries(
    CALLERS.map(format => [format, upstream.base(format).replace(upstream.root, proxy.root)]),
  )
  const target = {
    name,
    bases,
    key: 'kit-key',
    model: () => 'kit',
    translates: false,
    ...(saboteur.specs && { specs: saboteur.specs }),
  }
  const only = saboteur.cell
  const results = await run({ target, upstream, scenarios: SCENARIOS, callers: CALLERS, upstreams: CALLERS, only })
  await proxy.close()
  expect(results.length).toBe(1)
  const failed = results[0]!.checks.filter(({ status }) => status === 'fail' || status === 'harness-error')
  expect(failed.map(({ rule }) => rule).sort()).toEqual([...saboteur.caught].sort())
})

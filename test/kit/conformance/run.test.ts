import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countsOf } from '../../../src/kit/conformance/checks.ts'
import { FORMATS } from '../../../src/kit/conformance/formats/index.ts'
import { readPeer } from '../../../src/kit/conformance/peer.ts'
import { run } from '../../../src/kit/conformance/run.ts'
import type { CellResult } from '../../../src/kit/conformance/run-cells.ts'
import { readScenarios } from '../../../src/kit/conformance/scenario.ts'
import { type RunningPeer, startPeer } from '../../../src/kit/conformance/start-peer.ts'
import { Upstream } from '../../../src/kit/conformance/upstream.ts'
import { failedChecks } from '../../builders/checks.ts'

const SCENARIOS = readScenarios()
const NAMES = Object.keys(FORMATS)

describe.each(['interlingua', 'proxy'])('%s', name => {
  let upstream: Upstream
  let peer: RunningPeer
  let results: CellResult[]

  beforeAll(async () => {
    process.env['INTERLINGUA_BUNDLE'] = 'off'
    upstream = await Upstream.open()
    const described = readPeer(name)
    peer = await startPeer(described, upstream)
    const { target } = peer
    const callers = NAMES.filter(format => target.bases[format] !== undefined)
    const upstreams = NAMES.filter(format => described.upstreams.includes(format))
    results = await run({ target, upstream, scenarios: SCENARIOS, callers, upstreams })
  })
  afterAll(async () => {
    await peer?.close()
    await upstream?.close()
  })

  test('no check fails', () => {
    expect(failedChecks(results)).toEqual([])
  })

  test('foreign cells are translated, or said to be unsupported', () => {
    const foreign = results.filter(({ cell }) => cell.caller !== cell.upstream)
    const { unsupported, pass } = countsOf(foreign.flatMap(({ checks }) => checks))
    expect(foreign.length).toBeGreaterThan(0)
    if (name === 'proxy') expect({ unsupported, pass }).toEqual({ unsupported: foreign.length, pass: 0 })
    else expect(unsupported).toBe(0)
  })

  test('ids of checks are unique', () => {
    const ids = results.flatMap(({ checks }) => checks.map(({ id }) => id))
    expect(new Set(ids).size).toBe(ids.length)
  })
})

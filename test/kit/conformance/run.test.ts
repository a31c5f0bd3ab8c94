import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countsOf } from '../../../src/kit/conformance/checks.ts'
import { FORMATS } from '../../../src/kit/conformance/formats/index.ts'
import { readPeer, upstreamsOf } from '../../../src/kit/conformance/peer.ts'
import { run } from '../../../src/kit/conformance/run.ts'
import type { CellResult } from '../../../src/kit/conformance/run-cells.ts'
import { readScenarios } from '../../../src/kit/conformance/scenario.ts'
import { type RunningPeer, startPeer } from '../../../src/kit/conformance/start-peer.ts'
import { Upstream } from '../../../src/kit/conformance/upstream.ts'
import { failedChecks } from '../../builders/checks.ts'

const SCENARIOS = readScenarios()
const NAMES = Object.keys(FORMATS)

/* Every cell against the plain proxy; own-gateway.test.ts runs them against the gateway of this repository. */

describe('proxy', () => {
  let upstream: Upstream
  let peer: RunningPeer
  let results: CellResult[]

  beforeAll(async () => {
    upstream = await Upstream.open()
    const described = readPeer('proxy')
    peer = await startPeer(described, upstream)
    const { target } = peer
    const callers = NAMES.filter(format => target.bases[format] !== undefined)
    const upstreams = NAMES.filter(format => upstreamsOf(described).has(format))
    results = await run({ target, upstream, scenarios: SCENARIOS, callers, upstreams })
  })
  afterAll(async () => {
    await peer?.close()
    await upstream?.close()
  })

  test('no check fails', () => {
    expect(failedChecks(results), peer.output()).toEqual([])
  })

  test('foreign cells are said to be unsupported', () => {
    const foreign = results.filter(({ cell }) => cell.caller !== cell.upstream)
    const { unsupported, pass } = countsOf(foreign.flatMap(({ checks }) => checks))
    expect(foreign.length).toBeGreaterThan(0)
    expect({ unsupported, pass }).toEqual({ unsupported: foreign.length, pass: 0 })
  })

  test('ids of checks are unique', () => {
    const ids = results.flatMap(({ checks }) => checks.map(({ id }) => id))
    expect(new Set(ids).size).toBe(ids.length)
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countsOf } from '../../../../src/kit/conformance/checks.ts'
import { readPeer } from '../../../../src/kit/conformance/peer.ts'
import type { CellResult } from '../../../../src/kit/conformance/run-cells.ts'
import { SESSION_FORMATS } from '../../../../src/kit/conformance/sockets/formats.ts'
import { runSessions } from '../../../../src/kit/conformance/sockets/run-sessions.ts'
import { readSessions } from '../../../../src/kit/conformance/sockets/session-scenario.ts'
import { SessionUpstream } from '../../../../src/kit/conformance/sockets/session-upstream.ts'
import { type RunningPeer, startPeer } from '../../../../src/kit/conformance/start-peer.ts'
import { Upstream } from '../../../../src/kit/conformance/upstream.ts'
import { failedChecks } from '../../../builders/checks.ts'

const CALLERS = ['realtime', 'realtime.beta']
const UPSTREAMS = Object.keys(SESSION_FORMATS)

describe.each(['interlingua', 'proxy'])('%s', name => {
  let upstream: Upstream
  let peer: RunningPeer
  let results: CellResult[]
  let sessionUpstream: SessionUpstream

  beforeAll(async () => {
    upstream = await Upstream.open()
    sessionUpstream = new SessionUpstream(upstream)
    peer = await startPeer(readPeer(name), upstream)
    const wanted = { sessions: readSessions(), callers: CALLERS, upstreams: UPSTREAMS }
    results = await runSessions({ target: peer.target, upstream: sessionUpstream, ...wanted })
  })
  afterAll(async () => {
    await peer?.close()
    sessionUpstream?.close()
    await upstream?.close()
  })

  test('no check fails', () => {
    expect(failedChecks(results)).toEqual([])
  })

  test('native sessions are judged, foreign ones are translated or said to be unsupported', () => {
    const [native, foreign] = [true, false].map(isNative =>
      countsOf(results.flatMap(({ cell, checks }) => ((cell.caller === cell.upstream) === isNative ? checks : []))),
    )
    expect(native!.pass).toBeGreaterThan(1400)
    expect(native!.unsupported).toBe(0)
    if (name === 'proxy') expect(foreign!.pass).toBe(0)
    else expect(foreign!.unsupported).toBe(0)
  })

  test('ids of checks are unique', () => {
    const ids = results.flatMap(({ checks }) => checks.map(({ id }) => id))
    expect(new Set(ids).size).toBe(ids.length)
  })
})

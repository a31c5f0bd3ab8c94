import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { CALLER_FORMATS } from '../../src/formats/index.ts'
import { endpointPath, pathFor } from '../../src/formats/routes.ts'
import { channelAt } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { FakeUpstream } from '../builders/upstream.ts'
import { bodyOf, writeFrame } from '../clients/stage.ts'
import { UPSTREAMS } from '../clients/upstreams/index.ts'
import { asSaid } from '../laws/completed.ts'
import { same } from '../laws/support.ts'
import {
  asAccepted,
  formatsOf,
  isAnswer,
  named,
  present,
  type Recording,
  recorded,
  recordingsOf,
  where,
} from './recording.ts'
import { Replaying, renamed } from './replaying.ts'

/** Formats that callers speak. */
const FORMATS = formatsOf('events').filter(format => CALLER_FORMATS.has(format) && UPSTREAMS[format] !== undefined)

/** Returns the endpoint of a format, for the request of a recording with another model name. */
function doorOf({ format, request, sse }: Recording, model: string): string {
  const query = new URLSearchParams(request!.query as { [name: string]: string }).toString()
  const path = endpointPath(format, pathFor(format, model, request!.body, sse !== undefined))
  return query === '' ? path : `${path}?${query}`
}

const asked = (format: string) => recordingsOf(format).filter(({ request }) => request !== undefined)
const headersOf = ({ request }: Recording) => ({ 'anthropic-version': '2023-06-01', ...request!.headers })

describe.skipIf(!present).each(recorded(FORMATS))(`recorded exchanges of %s${where}`, format => {
  describe('pass through the gateway to an upstream of their own format as they are', () => {
    let replaying: Replaying
    beforeAll(async () => void (replaying = await Replaying.open(format, recordingsOf(format))))
    afterAll(() => replaying.close())

    test.concurrent.each(named(asked(format).filter(isAnswer)))('%s', async (name, recording) => {
      const body = renamed(recording.request!.body, name)
      const options = { headers: headersOf(recording) }
      const answer = await replaying.testServer.ask(doorOf(recording, name), body, options)
      expect(answer.status, answer.text).toBe(200)
      expect(answer.headers['interlingua-loss']).toBeUndefined()
      same(bodyOf(replaying.seen(name)), asAccepted(body))
      if (recording.sse !== undefined) return
      same(format === 'responses' ? asSaid(answer.json, recording.body) : answer.json, recording.body)
    })
  })

  describe.each(FORMATS.filter(other => other !== format))('reach an upstream of %s', other => {
    let upstream: FakeUpstream
    let testServer: TestServer
    beforeAll(async () => {
      upstream = await FakeUpstream.open((response, seen) => {
        const body = bodyOf(seen)
        if (!UPSTREAMS[other]!.streams(seen.url, body))
          return response.setHeader('content-type', 'application/json').end(JSON.stringify(ANSWERS[other]))
        for (const frame of UPSTREAMS[other]!.frames({ text: 'Well heard.' }))
          writeFrame(response, UPSTREAMS[other]!, frame)
        return response.end()
      })
      testServer = await TestServer.open([channelAt(upstream.address, { format: other })])
    })
    afterAll(async () => {
      await testServer.server.close(0)
      await upstream.close()
    })

    test.concurrent.each(named(asked(format)))('%s', async (_, recording) => {
      const body = renamed(recording.request!.body, 'm')
      const options = { headers: headersOf(recording) }
      const answer = await testServer.ask(doorOf(recording, 'm'), body, options)
      if (answer.status === 404) expect(answer.json.error.code).toBe('conversation_not_found')
      else if (answer.status === 422) expect(answer.text).toMatch(/cannot|lost|express/i)
      else {
        expect(answer.status, answer.text).toBe(200)
        expect(answer.text).toContain('Well')
      }
    })
  })
})

const ANSWERS: { readonly [format: string]: JsonObject } = Object.fromEntries(
  FORMATS.map(format => [format, UPSTREAMS[format]!.whole({ text: 'Well heard.' })]),
)

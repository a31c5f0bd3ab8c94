import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { RUNS } from '../../laws/runs.ts'
import { Gemini, type Kind } from './gemini.ts'
import { SOUNDS, sessionWith, settled } from './session.ts'

/*
 * A microphone that never stops: speech and silence of any length while the model answers, as fast or as slowly as it
 * likes. Each turn of the user is one item with its transcript.
 */

const kind = fc.constantFrom<Kind>('second generation', 'third generation', 'of the cloud')
const moment = fc.oneof(
  { weight: 2, arbitrary: fc.constant('voice' as const) },
  { weight: 3, arbitrary: fc.constant('quiet' as const) },
  { weight: 4, arbitrary: fc.constantFrom(1, 2, 8) },
)

test('each turn of a microphone that streams all the time is one item of the user', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(moment, { maxLength: 12 }), kind, async (moments, of) => {
      const { gemini, mirror, session, say } = await sessionWith(new Gemini(of), { type: 'server_vad' })
      const step = async (): Promise<void> => {
        say(SOUNDS.quiet.subarray(0, 960))
        gemini.step()
        await settled()
      }
      for (const one of moments)
        if (typeof one === 'number') for (let count = 0; count < one; count++) await step()
        else say(SOUNDS[one])
      say(SOUNDS.quiet)
      while (!gemini.isIdle) await step()
      const items = mirror.items.filter(id => (mirror.known.get(id) as JsonObject)['role'] === 'user')
      expect(items.map(id => mirror.transcripts.get(`${id} 0`) ?? '')).not.toContain('')
      expect(items.map(id => mirror.transcripts.get(`${id} 0`)).join('')).toBe('Hi.'.repeat(gemini.transcripts))
      session.stop()
    }),
    { numRuns: RUNS },
  )
}, 600_000)

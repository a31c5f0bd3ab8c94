import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { MemoryEngine } from '../../../src/accounts/limits/engine.ts'
import { Limits } from '../../../src/accounts/limits/index.ts'
import { takeSteps } from '../../../src/accounts/limits/remote-engine.ts'
import { VoiceSessionRecord } from '../../../src/gateway/realtime/voice-session-record.ts'
import { NO_PRICES } from '../../../src/upstreams/catalogue/rates.ts'
import { permitting } from '../../builders/permissions.ts'
import { TIMED } from '../../builders/time.ts'

const log = { info() {}, warn() {}, error() {} }
const recorder = { log, pricesFor: () => NO_PRICES, record: () => {}, take: () => {}, address: () => undefined }
const caller = { key: 'dev', id: 'dev', group: 'default', permissions: permitting('*') }
const facts = {
  id: 'r1',
  clientId: undefined,
  path: '/v1/realtime',
  format: 'realtime',
  caller,
  model: 'voice',
  address: undefined,
}

function recordOf(limits: Limits): VoiceSessionRecord {
  const share = () => limits.of('dev', { rpm: 2 })
  return new VoiceSessionRecord(facts, recorder, { forNextResponse: share, forSpentUsage: share }, () => {})
}

it('a response beyond the limits is refused at once where this process counts', () => {
  const record = recordOf(new Limits())
  record.admit()
  record.admit()
  expect(() => record.admit()).toThrow('limit of requests per minute')
})

it('where another process counts, responses go on, and those after a refusal are refused', TIMED, async () => {
  const primary = new MemoryEngine()
  const limits = new Limits({ ask: steps => takeSteps(primary, steps) })
  const record = recordOf(limits)
  for (let count = 0; count < 3; count++) record.admit()
  await pause(20)
  expect(() => record.admit()).toThrow('limit of requests per minute')
  record.recordUsage({ input: 1, output: 1 })
  limits.close()
})

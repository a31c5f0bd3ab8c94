import { expect, test } from 'vitest'
import { BackgroundReply } from '../../../src/gateway/stored/background-reply.ts'
import { EventLog } from '../../../src/gateway/stored/event-log.ts'
import { RESPONSES } from '../../../src/gateway/stored/responses-format.ts'
import { REQUEST } from '../../builders/requests.ts'
import { MIB } from '../../builders/units.ts'

const event = (size: number) => `{"type":"x","text":"${'y'.repeat(size)}","sequence_number":7}`
test('events are numbered, and what is stored is held no longer than others may want it', () => {
  const log = new EventLog(RESPONSES)
  for (let index = 0; index < 5; index++) {
    log.push(event(MIB / 2))
    const texts = log.pending()
    expect(texts.map(text => JSON.parse(text).sequence_number)).toEqual([index])
    log.store(texts)
  }
  expect(log).toMatchObject({ length: 5, stored: 5, isLossy: false })
  expect(log.from(0)).toBeUndefined()
  expect(log.from(4)!.map(text => JSON.parse(text).sequence_number)).toEqual([4])
  expect(log.from(9)).toEqual([])
})

test('a store that takes nothing costs the beginning of the stream, never memory without bound', () => {
  const log = new EventLog(RESPONSES)
  for (let index = 0; index < 20; index++) log.push(event(MIB))
  expect(log).toMatchObject({ length: 20, isLossy: true, isFull: false })
  expect(log.pending()).toEqual([])
  expect(log.from(0)).toBeUndefined()
  expect(log.from(19)).toHaveLength(1)
})

test('more than is kept of one response is kept no more', () => {
  const log = new EventLog(RESPONSES)
  for (let index = 0; index < 70; index++) {
    log.push(event(MIB))
    log.store(log.pending())
  }
  expect(log.isLossy).toBe(true)
})

test('whoever waits for an event is told when it comes, or when none will', async () => {
  const log = new EventLog(RESPONSES)
  const waits = log.until(0)
  log.push(event(1))
  await waits
  const rest = log.until(2)
  log.finish(event(1))
  await rest
  await log.until(99)
  expect(log.isOver).toBe(true)
})

test('a run takes no more than the store does, and goes on when it has what waited', () => {
  const run = new BackgroundReply(RESPONSES, 'resp_1', REQUEST)
  let spilt = 0
  let drained = 0
  run.onBacklog = () => void spilt++
  const frame = (size: number) => `event: x\ndata: ${event(size)}\n\n`
  expect(run.write(frame(9))).toBe(true)
  expect(run.write(frame(MIB))).toBe(false)
  expect(spilt).toBe(1)
  run.once('drain', () => void drained++)
  run.log.store(run.log.pending())
  run.drain()
  run.drain()
  expect(drained).toBe(1)
  expect(run.write(frame(9))).toBe(true)
})

test('an upstream that answers that it goes on by itself leaves a run that failed', () => {
  const run = new BackgroundReply(RESPONSES, 'resp_1', REQUEST)
  run.whole(200, {}, JSON.stringify({ id: 'resp_1', object: 'response', status: 'queued', output: [] }))
  run.settle(undefined)
  expect(run.response).toMatchObject({ status: 'failed', error: { code: 'server_error' } })
})

test('the last event is not for the store', () => {
  const log = new EventLog(RESPONSES)
  log.push('{"type":"a","sequence_number":0}')
  log.finish('{"type":"b","sequence_number":0}')
  expect(log.pending()).toEqual(['{"type":"a","sequence_number":0}'])
})

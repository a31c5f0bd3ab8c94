import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { BackgroundReply } from '../../../src/gateway/stored/background-reply.ts'
import { RESPONSES } from '../../../src/gateway/stored/responses-format.ts'
import { REQUEST } from '../../builders/requests.ts'
import { TIMED } from '../../builders/time.ts'

const done = (output_index: number): string => {
  const data = { type: 'response.output_item.done', output_index, item: { type: 'message', id: `msg_${output_index}` } }
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
}

const begun = (): BackgroundReply => {
  const run = new BackgroundReply(RESPONSES, 'resp', REQUEST)
  run.abortable = { abort: () => {} }
  return run
}

const idsOf = ({ output }: JsonObject): readonly unknown[] => (output as readonly JsonObject[]).map(one => one['id'])

describe('the items of a response in the background', () => {
  it('stand in their order, before its end and where it is broken off', () => {
    const run = begun()
    run.write(done(1))
    run.write(done(0))
    expect(run.published).toMatchObject({ status: 'in_progress' })
    expect(idsOf(run.published)).toEqual(['msg_0', 'msg_1'])
    run.write(done(2))
    run.settle('cancelled')
    expect(run.response).toMatchObject({ status: 'cancelled' })
    expect(idsOf(run.response)).toEqual(['msg_0', 'msg_1', 'msg_2'])
  })

  it('do not show how it ended before that is stored', () => {
    const run = begun()
    run.write(done(0))
    run.write(
      `event: response.completed\ndata: {"type":"response.completed","response":{"status":"completed","output":[]}}\n\n`,
    )
    expect(run.published).toMatchObject({ status: 'in_progress' })
    expect(idsOf(run.published)).toEqual(['msg_0'])
    expect(run.response).toMatchObject({ status: 'completed', output: [] })
  })

  it('cost no more each, however many there are', TIMED, () => {
    const run = begun()
    const before = performance.now()
    for (let count = 0; count < 20_000; count++) run.write(done(count))
    expect(performance.now() - before).toBeLessThan(1500)
    expect(idsOf(run.published).length).toBe(20_000)
  })
})

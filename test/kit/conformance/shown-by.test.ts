import { expect, test } from 'vitest'
import { cellsOf } from '../../../src/kit/conformance/cells.ts'
import { objectOf, parseJson } from '../../../src/kit/conformance/json.ts'
import { judge } from '../../../src/kit/conformance/judge.ts'
import { readScenario } from '../../../src/kit/conformance/scenario.ts'

/* What a target does itself is not lost, although its upstream cannot be told. */

const scenario = readScenario('candidates')
const [cell] = cellsOf({ scenarios: [scenario], callers: ['chat'], upstreams: ['messages'], only: '*/whole' })
const { chat, messages } = scenario.wires as Required<typeof scenario.wires>
const whole = objectOf(parseJson(String(chat!.whole)))

/** The meaning of the number of candidates, for a target that answers with these choices. */
function meaningOf(choices: readonly unknown[]) {
  const sent = { method: 'POST', url: 'http://kit/v1', headers: {}, body: Buffer.from('{}') }
  const got = {
    ...{ status: 200, headers: { 'content-type': 'application/json; charset=utf-8' }, trailers: {}, isComplete: true },
    body: Buffer.from(JSON.stringify({ ...whole, choices })),
  }
  const arrival = { format: 'messages', path: '/v1/messages', body: messages!.request.body, sent }
  const request = { method: 'POST', path: '/chat/completions', body: chat!.request.body }
  const record = { exchange: { sent, got, took: 1 }, request, arrivals: [arrival], strays: [] }
  const checks = judge(cell!, [record as never], undefined)
  return checks.find(({ rule }) => rule === 'request.meaning:settings.candidates')?.meaning
}

test('candidates that a target requests one by one are kept', () => {
  const choices = whole['choices'] as readonly unknown[]
  expect(meaningOf(choices)).toBe('kept')
  expect(meaningOf(choices.slice(0, 1))).toBe('lost-silently')
})

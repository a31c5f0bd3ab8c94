import { expect, test } from 'vitest'
import { cellsOf } from '../../../src/kit/conformance/cells.ts'
import { type JsonObject, objectOf, parseJson } from '../../../src/kit/conformance/json.ts'
import { judge } from '../../../src/kit/conformance/judge.ts'
import { readScenario } from '../../../src/kit/conformance/scenario.ts'

/* What a target does itself is not lost, although its upstream cannot be told. */

/** Returns the meaning of a fact of a request, for a target that answers with fields in place of the caller's own. */
function meaningsOf(id: string, [caller, upstream]: readonly [string, string], fact: string) {
  const scenario = readScenario(id)
  const [cell] = cellsOf({ scenarios: [scenario], callers: [caller], upstreams: [upstream], only: '*/whole' })
  const [own, other] = [scenario.wires[caller]!, scenario.wires[upstream]!]
  const whole = objectOf(parseJson(String(own.whole)))
  const meaningOf = (changes: JsonObject) => {
    const sent = { method: 'POST', url: 'http://kit/v1', headers: {}, body: Buffer.from('{}') }
    const got = {
      ...{
        status: 200,
        headers: { 'content-type': 'application/json; charset=utf-8' },
        trailers: {},
        isComplete: true,
      },
      body: Buffer.from(JSON.stringify({ ...whole, ...changes })),
    }
    const arrival = { format: upstream, path: '/v1', body: other.request.body, sent }
    const request = { method: 'POST', path: '/v1', body: own.request.body }
    const record = { exchange: { sent, got, took: 1 }, request, arrivals: [arrival], strays: [] }
    const checks = judge(cell!, [record as never])
    return checks.find(({ rule }) => rule === `request.meaning:${fact}`)?.meaning
  }
  return { whole, meaningOf }
}

test('candidates that a target requests one by one are kept', () => {
  const { whole, meaningOf } = meaningsOf('candidates', ['chat', 'messages'], 'settings.candidates')
  const choices = whole['choices'] as JsonObject[]
  expect(meaningOf({ choices })).toBe('kept')
  expect(meaningOf({ choices: choices.slice(0, 1) })).toBe('lost-silently')
})

test('a prompt that a target repeats itself is kept, the text of the upstream alone is no echo', () => {
  const { whole, meaningOf } = meaningsOf('completion-echo', ['completions', 'chat'], 'echo')
  const [choice] = whole['choices'] as JsonObject[]
  expect(meaningOf({ choices: [choice!] })).toBe('kept')
  expect(meaningOf({ choices: [{ ...choice, text: ' a lighthouse.' }] })).toBe('lost-silently')
})

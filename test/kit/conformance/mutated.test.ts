import { describe, expect, test } from 'vitest'
import { leavesOf } from '../../../src/kit/conformance/facts.ts'
import { type Format, type RequestOnWire, schemaOf } from '../../../src/kit/conformance/format.ts'
import { FORMATS } from '../../../src/kit/conformance/formats/index.ts'
import { isObject, type Json, type JsonObject, objectOf, parseJson } from '../../../src/kit/conformance/json.ts'
import { readScenarios } from '../../../src/kit/conformance/scenario.ts'
import { schemaFaults } from '../../../src/kit/conformance/schema.ts'
import { requestOnWire } from '../../../src/kit/conformance/step-request.ts'

/* A body with anything in any place is judged, and never breaks the kit. */

const RUBBISH: readonly Json[] = [null, true, -1, 1e300, '', 'AAAA=', [], [[null]], {}, { a: [{}] }]

/** Copies of a value in which one part, at any depth, is something else. */
function* mutations(value: Json): Generator<Json> {
  for (const rubbish of RUBBISH) yield rubbish
  if (Array.isArray(value)) {
    const [first] = value as readonly Json[]
    if (first !== undefined) for (const one of mutations(first)) yield [one, ...value.slice(1)]
  } else if (isObject(value))
    for (const [name, inner] of Object.entries(value)) {
      const { [name]: _, ...others } = value
      yield others
      for (const one of mutations(inner)) yield { ...value, [name]: one }
    }
}

/** Judges one body in every way that a run does. */
function judged(format: Format, on: 'request' | 'answer', asked: RequestOnWire, body: JsonObject): void {
  const { lint, exceptions, name } = format
  const schema = schemaOf(format, on, { ...asked, body })
  if (schema !== undefined) schemaFaults(name, schema, body, exceptions)
  if (on === 'request') lint.request(body, {}, asked.path)
  else lint.answer(body, {}, asked)
  leavesOf(on === 'request' ? format.request(body, asked.path) : format.answer(body))
}

const OTHERS = Object.values(FORMATS).filter(({ work }) => work !== 'conversation')
const SCENARIOS = readScenarios()

describe.each(OTHERS)('$name', format => {
  const wires = SCENARIOS.filter(({ work }) => work === format.work).flatMap(
    ({ id, wires: { [format.name]: wire } }) => (wire === undefined ? [] : [[id, wire] as const]),
  )

  test('has scenarios', () => expect(wires.length).toBeGreaterThan(0))

  test.each(wires)('%s', (_, { request, whole, type, error }) => {
    const asked = requestOnWire(format, request, false, { model: 'm', answers: [] })
    for (const body of mutations(asked.body)) judged(format, 'request', asked, objectOf(body))
    for (const body of mutations(error?.body ?? null)) {
      format.lint.error(400, body, {})
      format.error(400, {}, body)
    }
    if (whole === undefined || type !== 'application/json') return
    for (const body of mutations(parseJson(whole.toString())!)) judged(format, 'answer', asked, objectOf(body))
    // A request that was answered as another.
    for (const other of mutations(asked.body))
      format.lint.answer(objectOf(parseJson(whole.toString())), {}, { ...asked, body: objectOf(other) })
  })
})

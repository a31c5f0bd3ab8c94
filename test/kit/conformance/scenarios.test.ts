import { describe, expect, test } from 'vitest'
import { leavesOf } from '../../../src/kit/conformance/facts.ts'
import { type Format, type RequestOnWire, schemaOf } from '../../../src/kit/conformance/format.ts'
import { FORMATS } from '../../../src/kit/conformance/formats/index.ts'
import { type Json, objectOf, parseJson } from '../../../src/kit/conformance/json.ts'
import { readScenarios, runsLive, type Scenario, stepsOf } from '../../../src/kit/conformance/scenario.ts'
import type { Wire } from '../../../src/kit/conformance/scenario-files.ts'
import { schemaFaults } from '../../../src/kit/conformance/schema.ts'
import { readSse } from '../../../src/kit/conformance/sse.ts'
import { requestOnWire } from '../../../src/kit/conformance/step-request.ts'

/* All files of a scenario have the same meaning, except for the differences that it declares. */

const SCENARIOS = readScenarios()
const TOKEN = /\.(id|signature|redacted)$/

const prefixed = (prefix: string, facts: object): [string, Json][] =>
  [...leavesOf(facts)].map(([path, value]) => [`${prefix}.${path}`, TOKEN.test(path) ? 'a token' : value])

/** The values of placeholders: the ids that the format's own answers gave in the steps before. */
const knownOf = (format: Format, { earlier }: Scenario) => ({
  model: 'm',
  answers: earlier.map(wires => objectOf(parseJson(String(wires[format.name]?.whole ?? '')))),
})

/** Returns the facts of a whole answer. */
const answerOf = (format: Format, bytes: Buffer, type: string): object =>
  type === 'application/json'
    ? format.answer(objectOf(parseJson(bytes.toString())))
    : format.answer({}, { type, bytes })

const factsOf = (format: Format, scenario: Scenario): Map<string, Json> => {
  const { request, whole, type, error }: Wire = scenario.wires[format.name]!
  const { body, path, files, method } = requestOnWire(format, request, false, knownOf(format, scenario))
  return new Map([
    ...prefixed('request', format.request(body, path, files, method)),
    ...(whole === undefined ? [] : prefixed('answer', answerOf(format, whole, type))),
    ...(error === undefined ? [] : prefixed('error', format.error(error.status, error.headers, error.body))),
  ])
}

/** Facts that only streams or only whole answers of a format have: a recording alone reports no usage. */
const ONLY: { readonly [format: string]: { readonly stream?: string; readonly whole?: string } } = {
  speech: { stream: 'usage' },
  transcriptions: { whole: 'duration' },
}

const without = (name: string, facts: object): object =>
  Object.fromEntries(Object.entries(facts).filter(([fact]) => fact !== name))

/** The faults of a value by the published schema, where there is one. */
const faultsBy = (format: Format, on: 'request' | 'answer' | 'event', asked: RequestOnWire, value: Json) => {
  const schema = schemaOf(format, on, asked)
  return schema === undefined ? [] : schemaFaults(format.name, schema, value, format.exceptions)
}

const declared = ({ differences }: Scenario, path: string, format: string) =>
  differences.find(({ fact, formats }) => {
    const pattern = fact.split('*').map(RegExp.escape).join('.*')
    return formats.includes(format) && new RegExp(`^${pattern}$`).test(path)
  })

/** Every step of every scenario. Later steps are named by their number. */
const STEPS = SCENARIOS.flatMap(scenario =>
  stepsOf(scenario).map((step, index) => (index === 0 ? step : { ...step, id: `${step.id} ${index + 1}` })),
)

describe.each(STEPS)('$id', scenario => {
  const formats = Object.keys(scenario.wires).map(name => FORMATS[name]!)

  test('every format means the same, and every declared difference is one', () => {
    // A turn on a socket that continues another one does not repeat it.
    const whole = formats.filter(({ turns }) => turns === undefined)
    const facts = new Map(whole.map(format => [format.name, factsOf(format, scenario)]))
    const usual = [...facts].flatMap(([name, one]) =>
      [...one].filter(([path]) => !declared(scenario, path, name)?.other),
    )
    const all = new Map(usual)
    const faults: string[] = []
    for (const [name, leaves] of facts)
      for (const [path, value] of all) {
        const isMissing = !leaves.has(path)
        // One kind of error has different statuses in different formats. Overload is 529 or 503.
        if (path === 'error.status' && !isMissing) continue
        const difference = declared(scenario, path, name)
        const isOther = difference?.other === true
        if (isMissing !== (difference !== undefined && !isOther))
          faults.push(`${name}: ${path} is ${isMissing ? 'missing' : 'there'}`)
        else if (!isMissing && !isOther && JSON.stringify(leaves.get(path)) !== JSON.stringify(value))
          faults.push(`${name}: ${path} is ${JSON.stringify(leaves.get(path))}, elsewhere ${JSON.stringify(value)}`)
      }
    expect(faults).toEqual([])
  })

  test.each(formats.map(({ name }) => name))('%s: valid, and streamed as whole', name => {
    const format = FORMATS[name]!
    const { request, whole, type, stream, error } = scenario.wires[name]!
    const asked = requestOnWire(format, request, scenario.modes.includes('stream'), knownOf(format, scenario))
    if (asked.method === 'POST') expect(faultsBy(format, 'request', asked, asked.body)).toEqual([])
    expect(format.lint.request(asked.body, format.headers('key'), asked.path, asked.files, asked.method)).toEqual([])
    if (error !== undefined) {
      const { error: schema } = format.schemas
      if (schema) expect(schemaFaults(name, schema, error.body, format.exceptions)).toEqual([])
      expect(format.lint.error(error.status, error.body, error.headers)).toEqual([])
      return
    }
    const body = whole === undefined ? undefined : objectOf(parseJson(whole.toString()))
    if (whole !== undefined && type === 'application/json') {
      expect(faultsBy(format, 'answer', asked, body!)).toEqual([])
      expect(format.lint.answer(body!, {}, asked)).toEqual([])
    } else if (whole !== undefined) expect(format.lint.answer({}, {}, asked, { type, bytes: whole })).toEqual([])
    // A format without streams answers whole, however a caller of another one wants it.
    if (!scenario.modes.includes('stream') || format.assemble === undefined) return
    const { events, faults } = readSse(stream!)
    expect(faults).toEqual([])
    const grammar = format.grammar!({ body: asked.body })
    for (const event of events) grammar.event(event, parseJson(event.data))
    expect(grammar.end(true)).toEqual([])
    // A stream without a whole answer has an error event.
    expect(grammar.ending).toBe(scenario.breaks && whole === undefined ? 'error' : 'normal')
    const data = events.flatMap(event => parseJson(event.data) ?? [])
    if (whole === undefined) return
    expect(data.flatMap(one => faultsBy(format, 'event', asked, one))).toEqual([])
    const { stream: streamOnly = '', whole: wholeOnly = '' } = ONLY[name] ?? {}
    const streamed = without(streamOnly, format.answer(format.assemble!(data)))
    expect(streamed).toEqual(without(wholeOnly, answerOf(format, whole, type)))
  })
})

test('scenarios whose upstream the kit must play do not run live', () => {
  const live = SCENARIOS.filter(runsLive).map(({ id }) => id)
  expect(live).toContain('text')
  expect(live).toContain('slow-reader')
  const notLive = ['error-429', 'broken-answer', 'stream-error-event', 'silent-upstream', 'caller-leaves']
  for (const id of [...notLive, 'callers-at-once']) expect(live).not.toContain(id)
})

import { describe, expect, test } from 'vitest'
import { leavesOf } from '../../../src/kit/conformance/facts.ts'
import type { Format } from '../../../src/kit/conformance/format.ts'
import { FORMATS } from '../../../src/kit/conformance/formats/index.ts'
import { type Json, objectOf, parsed } from '../../../src/kit/conformance/json.ts'
import { readScenarios, runsLive, type Scenario } from '../../../src/kit/conformance/scenario.ts'
import { schemaFaults } from '../../../src/kit/conformance/schema.ts'
import { readSse } from '../../../src/kit/conformance/sse.ts'

/* The files of a scenario mean the same, except for the differences that it declares. */

const SCENARIOS = readScenarios()
const TOKEN = /\.(id|signature|redacted)$/

const prefixed = (prefix: string, facts: object): [string, Json][] =>
  [...leavesOf(facts)].map(([path, value]) => [`${prefix}.${path}`, TOKEN.test(path) ? 'a token' : value])

const factsOf = (format: Format, { wires }: Scenario): Map<string, Json> => {
  const { request, whole, error } = wires[format.name]!
  return new Map([
    ...prefixed('request', format.request(request, format.path('m', false))),
    ...(whole === undefined ? [] : prefixed('answer', format.answer(objectOf(parsed(whole.toString()))))),
    ...(error === undefined ? [] : prefixed('error', format.error(error.status, error.headers, error.body))),
  ])
}

const isDeclared = ({ differences }: Scenario, path: string, format: string): boolean =>
  differences.some(({ fact, formats }) => {
    const pattern = fact.split('*').map(RegExp.escape).join('.*')
    return formats.includes(format) && new RegExp(`^${pattern}$`).test(path)
  })

describe.each(SCENARIOS)('$id', scenario => {
  const formats = Object.keys(scenario.wires).map(name => FORMATS[name]!)

  test('every format means the same, and every declared difference is one', () => {
    const facts = new Map(formats.map(format => [format.name, factsOf(format, scenario)]))
    const all = new Map([...facts.values()].flatMap(one => [...one]))
    const faults: string[] = []
    for (const [name, leaves] of facts)
      for (const [path, value] of all) {
        const isMissing = !leaves.has(path)
        // One kind of error has other statuses in other formats: overload is 529 or 503.
        if (path === 'error.status' && !isMissing) continue
        if (isMissing !== isDeclared(scenario, path, name))
          faults.push(`${name}: ${path} is ${isMissing ? 'missing' : 'there'}`)
        else if (!isMissing && JSON.stringify(leaves.get(path)) !== JSON.stringify(value))
          faults.push(`${name}: ${path} is ${JSON.stringify(leaves.get(path))}, elsewhere ${JSON.stringify(value)}`)
      }
    expect(faults).toEqual([])
  })

  test.each(formats.map(({ name }) => name))('%s: valid, and streamed as whole', name => {
    const format = FORMATS[name]!
    const { request, whole, stream, error } = scenario.wires[name]!
    const addressed = format.addressed(request, 'm', true)
    const { schemas, exceptions } = format
    expect(schemaFaults(name, schemas.request, addressed, exceptions)).toEqual([])
    expect(format.lint.request(addressed, format.headers('key'))).toEqual([])
    if (error !== undefined) {
      if (schemas.error) expect(schemaFaults(name, schemas.error, error.body, exceptions)).toEqual([])
      expect(format.lint.error(error.status, error.body, error.headers)).toEqual([])
      return
    }
    const { events, faults } = readSse(stream!)
    expect(faults).toEqual([])
    const grammar = format.grammar({ body: addressed })
    for (const event of events) grammar.event(event, parsed(event.data))
    expect(grammar.end(true)).toEqual([])
    // A stream without a whole answer has an error event.
    expect(grammar.ending).toBe(whole === undefined ? 'error' : 'normal')
    if (whole === undefined) return
    const body = objectOf(parsed(whole.toString()))
    expect(schemaFaults(name, schemas.answer, body, exceptions)).toEqual([])
    expect(format.lint.answer(body, {})).toEqual([])
    const data = events.flatMap(event => parsed(event.data) ?? [])
    expect(data.flatMap(one => schemaFaults(name, schemas.event, one, exceptions))).toEqual([])
    expect(format.answer(format.assemble(data))).toEqual(format.answer(body))
  })
})

test('scenarios whose upstream the kit must play do not run live', () => {
  const live = SCENARIOS.filter(runsLive).map(({ id }) => id)
  expect(live).toContain('text')
  expect(live).toContain('slow-reader')
  for (const id of ['error-429', 'broken-answer', 'stream-error-event', 'silent-upstream', 'caller-leaves'])
    expect(live).not.toContain(id)
})

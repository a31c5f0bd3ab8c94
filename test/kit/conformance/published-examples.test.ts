import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type RequestOnWire, schemaOf } from '../../../src/kit/conformance/format.ts'
import { FORMATS } from '../../../src/kit/conformance/formats/index.ts'
import { isObject, type Json, type JsonObject, listOf, objectOf, parseJson } from '../../../src/kit/conformance/json.ts'
import { schemaFaults } from '../../../src/kit/conformance/schema.ts'
import { readSse } from '../../../src/kit/conformance/sse.ts'

/* The examples of OpenAI's own description break no rule of media: there are no recordings of these endpoints. */

const HOME = process.env['SPECS'] ?? join(import.meta.dirname, '../../../../shared/specs')
const FILE = join(HOME, 'openai-openapi.json')
const where = existsSync(FILE) ? '' : ` (skipped: no descriptions at ${HOME})`

interface Example {
  readonly title: string
  readonly response: string
}

/** The examples of an operation that are whole: others leave out bytes and fields with an ellipsis. */
function examplesOf(method: string, path: string): Example[] {
  if (where !== '') return []
  const { paths } = JSON.parse(readFileSync(FILE, 'utf8')) as { paths: JsonObject }
  const { examples } = objectOf(objectOf(objectOf(paths[path])[method.toLowerCase()])['x-oaiMeta'])
  const all = Array.isArray(examples) ? listOf(examples).map(objectOf) : [objectOf(examples)]
  return all.flatMap(({ title = '', response }) =>
    typeof response === 'string' && !/"\.\.\."|^\s*\.\.\.$/m.test(response) ? { title: String(title), response } : [],
  )
}

/** Where examples are, and what their requests asked for. */
const OPERATIONS: readonly (readonly [format: string, path: string, asked: Partial<RequestOnWire>])[] = [
  ['images', '/images/variations', { body: { n: 2 } }],
  ['transcriptions', '/audio/transcriptions', {}],
  ['transcriptions', '/audio/translations', {}],
  ['videos', '/videos', {}],
  ['videos', '/videos/{video_id}/remix', { path: '/videos/video_123/remix' }],
]

const CASES = OPERATIONS.flatMap(([format, path, asked]) =>
  examplesOf('POST', path).map(example => [format, path, example.title, asked, example.response] as const),
)

/** The format of a transcript, which the examples do not repeat. */
const requestedBy = (body: Json | undefined): JsonObject =>
  isObject(body) && 'segments' in body
    ? { response_format: JSON.stringify(body).includes('"speaker"') ? 'diarized_json' : 'verbose_json' }
    : {}

describe.skipIf(where !== '')(`examples${where}`, () => {
  test('there are some of most endpoints', () => {
    expect(new Set(CASES.map(([format]) => format)).size).toBe(3)
    expect(CASES.length).toBeGreaterThan(5)
  })

  test.each(CASES)('%s %s %s', (name, path, _, given, response) => {
    const format = FORMATS[name]!
    const musts = new Set(format.rules.filter(({ level }) => level === 'must').map(({ on, id }) => `${on}.${id}`))
    const body = parseJson(response)
    const asked: RequestOnWire = { method: 'POST', path, body: requestedBy(body), ...given }
    const faultsBy = (on: 'answer' | 'event', value: Json): readonly string[] => {
      const schema = schemaOf(format, on, asked)
      return schema === undefined ? [] : schemaFaults(name, schema, value, format.exceptions)
    }
    if (isObject(body)) {
      expect(faultsBy('answer', body)).toEqual([])
      const broken = format.lint.answer(body, {}, asked).filter(({ rule }) => musts.has(`answer.${rule}`))
      return expect(broken).toEqual([])
    }
    const { events } = readSse(Buffer.from(`${response.trim()}\n\n`))
    const grammar = format.grammar!({ body: asked.body })
    for (const event of events) grammar.event(event, parseJson(event.data))
    expect(grammar.end(true).filter(({ rule }) => musts.has(`stream.${rule}`))).toEqual([])
    expect(events.flatMap(({ data }) => faultsBy('event', parseJson(data)!))).toEqual([])
  })
})

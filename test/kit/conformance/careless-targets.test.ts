import { describe, expect, test } from 'vitest'
import { cellsOf } from '../../../src/kit/conformance/cells.ts'
import type { Check } from '../../../src/kit/conformance/checks.ts'
import { isJson } from '../../../src/kit/conformance/content-types.ts'
import { isObject, type Json, type JsonObject, objectOf, parseJson } from '../../../src/kit/conformance/json.ts'
import { judge } from '../../../src/kit/conformance/judge.ts'
import { readScenarios } from '../../../src/kit/conformance/scenario.ts'
import type { StepRecord } from '../../../src/kit/conformance/step-record.ts'
import { idealRecords } from './ideal-target.ts'

/*
 * Targets that treat all values of one kind wrongly, as programs do that take zero for nothing, clean texts, or know a
 * part of JSON Schema. Ordinary values pass them unharmed, so that only scenarios with such values notice.
 */

type Change = (value: Json) => Json
/** Changes a value at a path. Returns undefined to leave it out. */
type Visit = (value: Json, path: readonly string[]) => Json | undefined

function visited(value: Json, visit: Visit, path: readonly string[] = []): Json | undefined {
  const inner = (one: Json, step: string): Json | undefined => visited(one, visit, [...path, step])
  if (Array.isArray(value)) {
    const items = (value as readonly Json[]).map((one, index) => inner(one, String(index)))
    return visit(
      items.filter(one => one !== undefined),
      path,
    )
  }
  if (!isObject(value)) return visit(value, path)
  const fields = Object.entries(value).flatMap(([name, one]) => {
    const other = inner(one, name)
    return other === undefined ? [] : [[name, other] as const]
  })
  return visit(Object.fromEntries(fields), path)
}

const changed =
  (visit: Visit): Change =>
  value =>
    visited(value, visit) ?? {}

/** Fields with texts of people, models and tools. */
const TEXT_FIELDS = new Set(['text', 'content', 'input', 'output', 'delta', 'description'])
const LIST_INDEX = /^\d+$/
const fieldOf = (path: readonly string[]): string => path.findLast(step => !LIST_INDEX.test(step)) ?? ''

const texts = (change: (text: string) => string): Change =>
  changed((value, path) => (typeof value === 'string' && TEXT_FIELDS.has(fieldOf(path)) ? change(value) : value))

/** Changes the arguments of calls, which are JSON in a text or an object. */
function args(visit: Visit): Change {
  const inner = changed(visit)
  return changed((value, path) => {
    const field = path.at(-1)
    if (field === 'arguments' && typeof value === 'string' && parseJson(value) !== undefined)
      return JSON.stringify(inner(parseJson(value)!))
    return isObject(value) && (field === 'args' || (field === 'input' && path.length > 2)) ? inner(value) : value
  })
}

const without = (isLeftOut: (value: Json) => boolean): Change =>
  args((value, path) => (path.length > 0 && isLeftOut(value) ? undefined : value))

const SCHEMA_FIELDS = new Set(['parameters', 'parametersJsonSchema', 'input_schema'])
const inSchema = (path: readonly string[]): boolean => path.some(step => SCHEMA_FIELDS.has(step))

const withoutKeyword = (keyword: string): Change =>
  changed((value, path) => (path.at(-1) === keyword && inSchema(path.slice(0, -1)) ? undefined : value))

const asNumber = (value: Json): Json => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value)
const HISTORIES = new Set(['messages', 'input', 'contents'])

const history = (change: (items: readonly Json[]) => readonly Json[]): Change =>
  changed((value, path) =>
    path.length === 1 && HISTORIES.has(path[0]!) && Array.isArray(value) ? change(value) : value,
  )

/** Changes of what people, models and tools say, in requests and in answers. */
const CONTENT: { readonly [name: string]: Change } = {
  'trims texts': texts(text => text.trim()),
  'joins blanks': texts(text => text.replace(/ {2,}/g, ' ')),
  'joins empty lines': texts(text => text.replace(/\n{2,}/g, '\n')),
  'knows one kind of line end': texts(text => text.replace(/\r\n/g, '\n')),
  'replaces tabs': texts(text => text.replace(/\t/g, '  ')),
  'composes characters': texts(text => text.normalize('NFC')),
  'escapes markup': texts(text => text.replace(/</g, '&lt;')),
  'resolves entities': texts(text => text.replace(/&lt;/g, '<')),
  'decodes percents': texts(text => text.replace(/%20/g, ' ')),
  'unescapes line ends': texts(text => text.replace(/\\n/g, '\n')),
  'fills templates': texts(text => text.replace(/\{\{\w+\}\}/g, '')),
  'fills variables': texts(text => text.replace(/\$\{\w+\}/g, '')),
  'removes fences': texts(text => text.replace(/```\w*/g, '')),
  'removes pictures of texts': texts(text => text.replace(/!\[[^\]]*\]\([^)]*\)/g, '')),
  'ends at [DONE]': texts(text => text.replace(/\[DONE\]/g, '')),
  'reads events in texts': texts(text => text.replace(/^data: .*$/gm, '')),
  'hides addresses': texts(text => text.replace(/\w+@\w+/g, '***')),
  'leaves out null': without(value => value === null),
  'leaves out zero': without(value => value === 0),
  'leaves out false': without(value => value === false),
  'leaves out empty texts': without(value => value === ''),
  'leaves out empty lists': without(value => Array.isArray(value) && value.length === 0),
  'leaves out empty objects': without(value => isObject(value) && Object.keys(value).length === 0),
  'takes digits for numbers': args(asNumber),
  'takes words for truth': args(value => (value === 'true' ? true : value)),
  'takes JSON in texts for JSON': args(value =>
    typeof value === 'string' && value.startsWith('{') ? (parseJson(value) ?? value) : value,
  ),
  'cuts fractions': args(value => (typeof value === 'number' ? Math.trunc(value) : value)),
  'unwraps lists of one': args(value => (Array.isArray(value) && value.length === 1 ? (value[0] as Json) : value)),
  'sorts lists': args(value => (Array.isArray(value) ? value.toSorted() : value)),
  'renames fields to camel case': args(value =>
    isObject(value)
      ? Object.fromEntries(
          Object.entries(value).map(([name, one]) => [
            name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()),
            one,
          ]),
        )
      : value,
  ),
}

const KEYWORDS = ['additionalProperties', 'anyOf', 'const', 'default', 'enum', 'exclusiveMinimum', 'format', 'items']
const LIMITS = [
  'maximum',
  'maxItems',
  'maxLength',
  'minimum',
  'minItems',
  'minLength',
  'multipleOf',
  'oneOf',
  'pattern',
]

/** Changes of requests alone. */
const REQUESTS: { readonly [name: string]: Change } = {
  ...Object.fromEntries([...KEYWORDS, ...LIMITS].map(name => [`does not know ${name}`, withoutKeyword(name)])),
  'knows one type': changed((value, path) =>
    path.at(-1) === 'type' && inSchema(path) && Array.isArray(value) ? (value[0] as Json) : value,
  ),
  'has enums of texts': changed((value, path) =>
    path.at(-1) === 'enum' && inSchema(path) && Array.isArray(value) ? value.map(String) : value,
  ),
  'cuts descriptions': changed((value, path) =>
    path.at(-1) === 'description' && typeof value === 'string' ? value.slice(0, 1024) : value,
  ),
  'cuts lists of tools': changed((value, path) =>
    ['tools', 'functionDeclarations'].includes(path.at(-1)!) && Array.isArray(value) ? value.slice(0, 32) : value,
  ),
  'leaves out a temperature of zero': changed((value, path) =>
    path.at(-1) === 'temperature' && value === 0 ? undefined : value,
  ),
  'rounds the temperature': changed((value, path) =>
    path.at(-1) === 'temperature' && typeof value === 'number' ? Math.round(value * 10) / 10 : value,
  ),
  'cuts long histories': history(items => items.slice(-20)),
  'sends equal turns once': history(items => [...new Map(items.map(one => [JSON.stringify(one), one])).values()]),
  'takes all images for PNG': changed((value, path) => {
    if (/^(media_type|mimeType)$/.test(path.at(-1) ?? '')) return 'image/png'
    return typeof value === 'string' ? value.replace(/^data:image\/\w+/, 'data:image/png') : value
  }),
}

/** Changes of settings that only some formats have. */
const SIGNED: { readonly [name: string]: Change } = {
  'leaves out a seed below zero': changed((value, path) =>
    path.at(-1) === 'seed' && typeof value === 'number' && value < 0 ? undefined : value,
  ),
  'raises penalties to zero': changed((value, path) =>
    /penalty$/i.test(path.at(-1) ?? '') && typeof value === 'number' ? Math.max(0, value) : value,
  ),
}

const withRequest = (record: StepRecord, change: Change): StepRecord => {
  const [arrival] = record.arrivals
  if (arrival === undefined) return record
  const body: JsonObject = objectOf(change(arrival.body))
  return {
    ...record,
    arrivals: [{ ...arrival, body, sent: { ...arrival.sent, body: Buffer.from(JSON.stringify(body)) } }],
  }
}

const withAnswer = (record: StepRecord, change: Change): StepRecord => {
  const { got } = record.exchange
  if (got === undefined || !isJson(got.headers['content-type'] ?? '')) return record
  const body = Buffer.from(JSON.stringify(change(objectOf(parseJson(got.body.toString('utf8'))))))
  return { ...record, exchange: { ...record.exchange, got: { ...got, body } } }
}

const findings = (checks: readonly Check[]): number => checks.filter(({ status }) => status !== 'pass').length

const CONVERSATIONS = ['chat', 'responses', 'messages', 'contents']
/** Scenarios with values that programs treat wrongly. */
const AWKWARD =
  /^(images-of-types|setting-(penalties|seed|temperature|temperature-zero)|text-verbatim|tool-schema|tool-values|tools-many|turns-many)$/

const CELLS = cellsOf({ scenarios: readScenarios(), callers: CONVERSATIONS, upstreams: CONVERSATIONS }).filter(
  ({ caller, upstream, mode, scenario }) => caller === upstream && mode === 'whole' && AWKWARD.test(scenario.id),
)

describe.each(CONVERSATIONS)('a target of %s is noticed that', format => {
  const records = Promise.all(
    CELLS.filter(({ caller }) => caller.name === format).map(async cell => {
      const right = await idealRecords(cell)
      return { cell, right, known: findings(judge(cell, right)) }
    }),
  )

  /** Returns the cells that notice a change. */
  async function noticedBy(change: (record: StepRecord) => StepRecord): Promise<string | undefined> {
    const found = (await records).find(({ cell, right, known }) => {
      const wrong = right.map(change)
      return JSON.stringify(wrong) !== JSON.stringify(right) && findings(judge(cell, wrong)) > known
    })
    return found?.cell.id
  }

  const signed = ['chat', 'contents'].includes(format) ? SIGNED : {}

  test.each(Object.entries({ ...CONTENT, ...REQUESTS, ...signed }))('%s in requests', async (_, change) => {
    expect(await noticedBy(record => withRequest(record, change))).toBeDefined()
  })

  test.each(Object.entries(CONTENT))('%s in answers', async (_, change) => {
    expect(await noticedBy(record => withAnswer(record, change))).toBeDefined()
  })
})

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { leavesOf } from '../../../src/kit/conformance/facts.ts'
import { type Format, type Headers, type RequestOnWire, schemaOf } from '../../../src/kit/conformance/format.ts'
import { FORMATS } from '../../../src/kit/conformance/formats/index.ts'
import type { JsonObject } from '../../../src/kit/conformance/json.ts'
import type { Subject, Violation } from '../../../src/kit/conformance/rules.ts'
import { schemaFaults } from '../../../src/kit/conformance/schema.ts'

/* No recorded exchange of a real provider breaks a rule that fails, beside conversations. */

const HOME = process.env['RECORDINGS'] ?? join(import.meta.dirname, '../../../../shared/recordings')
const where = existsSync(HOME) ? '' : ` (skipped: no recordings at ${HOME})`

interface Recording {
  readonly host: string
  readonly request: { readonly path: string; readonly body: JsonObject }
  readonly response: { readonly status: number; readonly headers: Headers; readonly body: JsonObject }
}

/** The format of the recordings in a folder, where one host of several speaks it. */
const FOLDERS: readonly (readonly [folder: string, format: string, host: RegExp])[] = [
  ['embeddings', 'embeddings', /openai/],
  ['embeddings', 'embeddings.voyage', /voyage/],
  ['contents-embeddings', 'contents.embeddings', /google/],
  ['cohere-embeddings', 'cohere.embeddings', /cohere/],
  ['messages-count-tokens', 'messages.tokens', /anthropic/],
  ['responses-input-tokens', 'responses.tokens', /openai/],
  ['contents-count-tokens', 'contents.tokens', /generativelanguage/],
]

function recordingsOf(folder: string, host: RegExp): (readonly [string, Recording])[] {
  const path = join(HOME, folder)
  if (!existsSync(path)) return []
  const all = readdirSync(path).map(
    file => [file, JSON.parse(readFileSync(join(path, file), 'utf8')) as Recording] as const,
  )
  return all.filter(([, recording]) => host.test(recording.host))
}

/** The cloud's paths hold project and location: the method alone matters here. */
const pathOf = ({ base }: Format, { request }: Recording): string =>
  request.path.replace(/^.*\/publishers\/google\//, '/v1beta/').replace(new RegExp(`^${base}`), '')

const failing = (format: Format, on: Subject, violations: readonly Violation[]): string[] => {
  const musts = new Set(format.rules.filter(rule => rule.on === on && rule.level === 'must').map(({ id }) => id))
  return violations.filter(({ rule }) => musts.has(rule)).map(({ rule, detail }) => `${rule}: ${detail}`)
}

const schemaFaultsOf = (format: Format, on: 'request' | 'answer', asked: RequestOnWire, body: JsonObject) => {
  const schema = schemaOf(format, on, asked)
  return schema === undefined ? [] : schemaFaults(format.name, schema, body, format.exceptions)
}

describe.skipIf(where !== '').each(FOLDERS)(`%s, %s${where}`, (folder, name, host) => {
  const format = FORMATS[name]!
  const recordings = recordingsOf(folder, host)

  test('there are some', () => expect(recordings).not.toEqual([]))

  test.each(recordings)('%s', (_, recording) => {
    const { request, response } = recording
    const asked = { method: 'POST', path: pathOf(format, recording), body: request.body }
    expect(format.recognise(asked.path, asked.body, 'POST')).toBeDefined()
    expect(schemaFaultsOf(format, 'request', asked, asked.body)).toEqual([])
    expect(failing(format, 'request', format.lint.request(asked.body, format.headers('key'), asked.path))).toEqual([])
    expect(leavesOf(format.request(asked.body, asked.path)).size).toBeGreaterThan(0)
    const { status, body, headers } = response
    if (status >= 400) {
      const { error } = format.schemas
      if (error !== undefined) expect(schemaFaults(name, error, body, format.exceptions)).toEqual([])
      expect(failing(format, 'error', format.lint.error(status, body, headers))).toEqual([])
      expect(format.error(status, headers, body)).toMatchObject({ status, message: expect.any(String) })
      return
    }
    expect(schemaFaultsOf(format, 'answer', asked, body)).toEqual([])
    expect(failing(format, 'answer', format.lint.answer(body, headers, asked))).toEqual([])
    expect(leavesOf(format.answer(body)).size).toBeGreaterThan(0)
  })
})

import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { leavesOf } from '../../../../src/kit/conformance/facts.ts'
import type { Json, JsonObject } from '../../../../src/kit/conformance/json.ts'
import { schemaFaults } from '../../../../src/kit/conformance/schema.ts'
import { settingsFrame } from '../../../../src/kit/conformance/sockets/client-secret.ts'
import { SESSION_FORMATS } from '../../../../src/kit/conformance/sockets/formats.ts'
import { frameWith } from '../../../../src/kit/conformance/sockets/frame.ts'
import type { Frames } from '../../../../src/kit/conformance/sockets/session-format.ts'
import { type Line, readSessions } from '../../../../src/kit/conformance/sockets/session-scenario.ts'

/* The scripts of a scenario follow the rules of their formats and have the same meaning. */

const framesOf = (lines: readonly Line[]): Frames => {
  const of = (side: string) =>
    lines.flatMap(line => (line.side === side && 'frame' in line ? [frameWith(line.frame)] : []))
  return { client: of('client'), server: of('server') }
}

const headersOf = (format: string) => SESSION_FORMATS[format]!.headers('key')

/** Facts that differ between the versions of a format, or that a conversion changes. */
const factsOf = (format: string, lines: readonly Line[], secret?: JsonObject): [string, Json][] => {
  const { request, answer } = SESSION_FORMATS[format]!
  const { client, server } = framesOf(lines)
  const frames = { client: secret === undefined ? client : [settingsFrame(secret), ...client], server }
  return [...leavesOf(request(frames)), ...leavesOf(answer(frames))]
}

describe.each(readSessions())('$id', ({ scripts, title, why, secret }) => {
  test('is described', () => {
    expect(title).not.toBe('')
    expect(why).toMatch(/\.$/)
  })

  test.each(Object.entries(scripts))('%s follows every rule', (name, lines) => {
    const format = SESSION_FORMATS[name]!
    expect(format.grammar(framesOf(lines))).toEqual([])
    expect(format.lint(framesOf(lines), headersOf(name))).toEqual([])
    const { schemas, exceptions } = format
    if (schemas === undefined) return
    for (const line of lines)
      if ('frame' in line) expect(schemaFaults(schemas.file, schemas[line.side], line.frame, exceptions)).toEqual([])
  })

  // The version before has no client secrets, so that its script has their settings.
  test.runIf(scripts['realtime.beta'])('both versions mean the same', () => {
    const { realtime, 'realtime.beta': beta } = scripts
    expect(new Map(factsOf('realtime.beta', beta!))).toEqual(new Map(factsOf('realtime', realtime!, secret?.session)))
  })
})

test.each(Object.values(SESSION_FORMATS).flatMap(({ name, rules }) => rules.map(rule => [name, rule] as const)))(
  '%s $id names a public source',
  (_, { source, says }) => {
    const [file = '', anchor = ''] = source.split('#')
    if (!source.startsWith('https://')) {
      expect(existsSync(file)).toBe(true)
      const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
        heading!.toLowerCase().replaceAll(' ', '-'),
      )
      expect(headings).toContain(anchor)
    }
    expect(says).toMatch(/\.$/)
  },
)

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/kit/conformance/json.ts'
import { schemaFaults } from '../../../../src/kit/conformance/schema.ts'
import { SESSION_FORMATS } from '../../../../src/kit/conformance/sockets/formats.ts'
import { frameWith, typeOf } from '../../../../src/kit/conformance/sockets/frame.ts'

/* No recorded session of a real provider fails a rule. */

const HOME = join(
  process.env['RECORDINGS'] ?? join(import.meta.dirname, '../../../../../shared/recordings'),
  'realtime',
)
const where = existsSync(HOME) ? '' : ` (skipped: no recordings at ${HOME})`
const FILES = existsSync(HOME) ? readdirSync(HOME) : []

interface Recording {
  readonly frames: readonly { readonly direction: 'sent' | 'received'; readonly data: JsonObject }[]
}

function formatOf(file: string, { frames }: Recording): string {
  if ('setup' in frames[0]!.data) return 'live'
  return file.includes('voice-live') ? 'realtime.beta' : 'realtime'
}

describe.skipIf(where !== '')(`recorded sessions${where}`, () => {
  test.each(FILES)('%s', file => {
    const recording = JSON.parse(readFileSync(join(HOME, file), 'utf8')) as Recording
    const format = SESSION_FORMATS[formatOf(file, recording)]!
    const of = (direction: string) =>
      recording.frames.filter(frame => frame.direction === direction).map(({ data }) => frameWith(data))
    const frames = { client: of('sent'), server: of('received') }
    // A side connection joins an existing session, so that `session.created` is not sent again.
    const isSide = file.includes('sideband')
    const musts = new Set(
      format.rules.filter(({ level, on }) => level === 'must' && on === 'stream').map(({ id }) => id),
    )
    const broken = format.grammar(frames).filter(({ rule }) => musts.has(rule) && !(isSide && rule === 'created'))
    expect(broken).toEqual([])
    const { schemas, exceptions } = format
    if (schemas !== undefined && !file.includes('xai')) {
      const faults = (['client', 'server'] as const).flatMap(side =>
        frames[side].flatMap(({ data }) => schemaFaults(schemas.file, schemas[side], data, exceptions)),
      )
      expect(faults).toEqual([])
    }
    // The facts of a response are found: text, transcript or calls, and an end.
    const responses = format.answer(frames).responses ?? []
    const count = frames.server.filter(({ data }) => typeOf(data) === 'response.created').length
    if (format.name !== 'live') expect(responses.length).toBe(count)
    expect(responses.length).toBeGreaterThan(0)
    for (const { finish, text, transcript, calls } of responses) {
      expect(finish).toMatch(/^(stop|calls|interrupted)$/)
      expect(Boolean(text || transcript || calls)).toBe(true)
    }
  })
})

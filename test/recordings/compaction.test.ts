import { describe, expect, test } from 'vitest'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { NATIVE } from '../builders/write-options.ts'
import { same } from '../laws/support.ts'
import { present, recordingsOf, where } from './recording.ts'

const { request: readRequest, result: readResult } = READERS['responses']!
const { request: writeRequest, result: writeResult } = WRITERS['responses']!

describe.skipIf(!present)(`recorded conversations put in short${where}`, () => {
  test.each(recordingsOf('responses-compact').map(one => [one.name, one] as const))('%s', (_, { request, body }) => {
    const asked = readRequest!(request!)
    expect(asked.output.compaction).toBe(true)
    const written = writeRequest!(asked, NATIVE)
    expect({ path: `/v1${written.wire.path}`, losses: written.losses }).toEqual({ path: request!.path, losses: [] })
    same(written.wire.body, request!.body)
    const result = readResult!({ status: 200, headers: {}, body: body! }, asked)
    const dressed = { ...result, model: result.model ?? asked.model }
    const answer = writeResult!(dressed, asked)
    same(answer.wire.body, body)
    expect(answer.losses).toEqual([])
  })
})

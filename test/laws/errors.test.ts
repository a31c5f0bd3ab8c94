import { describe, expect, it } from 'vitest'
import { ERRORS, type ErrorKind } from '../../src/canonical/error.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { readBack } from './exceptions.ts'
import { formatsWith } from './support.ts'

const KINDS = Object.keys(ERRORS) as ErrorKind[]

describe.each(formatsWith('error'))('errors: %s tells every kind of failure so that it is understood', format => {
  it.each(KINDS)('%s', kind => {
    const error = { kind, message: 'It went wrong.', retryAfterSeconds: 7 }
    const answer = WRITERS[format]!.error!(error, 'req_1')
    const read = READERS[format]!.error!(answer)
    expect(read.kind).toBe(readBack(format, kind))
    expect(read.message).toContain('It went wrong.')
    expect(JSON.stringify(answer.body)).not.toContain('undefined')
  })

  it('a status finer than the kind is told as such', () => {
    const answer = WRITERS[format]!.error!({ kind: 'too-large', httpStatus: 431, message: 'Too much.' }, 'req_1')
    expect(answer.status).toBe(431)
    const { error } = answer.body as { error?: { code?: unknown } }
    if (typeof error?.code === 'number') expect(error.code).toBe(431)
  })

  it('a request too long keeps its numbers, whatever words it came in (trap 98)', () => {
    const context = { tokens: 213_462, maximum: 200_000 }
    const answer = WRITERS[format]!.error!({ kind: 'context-too-long', message: 'Too long.', context }, 'req_1')
    expect(READERS[format]!.error!(answer)).toMatchObject({ kind: 'context-too-long', context })
    const again = WRITERS[format]!.error!(READERS[format]!.error!(answer), 'req_1')
    expect(again.body).toEqual(answer.body)
  })
})

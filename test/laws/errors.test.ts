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
})

import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { WireRequest } from '../../src/canonical/wire.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { essentialLosses } from '../../src/egress/losses.ts'
import { READERS } from '../../src/ingress/index.ts'
import { FOREIGN } from '../builders/write-options.ts'
import { conversing } from '../laws/support.ts'

/* Traps of the way through the canonical model, whichever formats are at its ends. */

const FORMATS = conversing('request')

const requests = FORMATS.flatMap(format =>
  readdirSync(`fixtures/${format}`)
    .filter(file => file.endsWith('.request.json'))
    .map(file => ({
      format,
      file,
      wire: JSON.parse(readFileSync(`fixtures/${format}/${file}`, 'utf8')) as WireRequest,
    })),
)

const through = (format: string, asked: CanonicalRequest): CanonicalRequest =>
  READERS[format]!.request!(WRITERS[format]!.request!(asked, FOREIGN).wire)

const lastWords = ({ messages }: CanonicalRequest): string =>
  messages
    .filter(message => message.role === 'user')
    .flatMap(message => message.content)
    .flatMap(part => (part.type === 'text' ? [part.text] : []))
    .at(-1) ?? ''

describe('trap 83: a request that goes through two formats in a row still says what it asks', () => {
  it.each(requests)('$format/$file', ({ format, wire }) => {
    const asked = READERS[format]!.request!(wire)
    expect(lastWords(asked)).not.toBe('')
    for (const first of FORMATS)
      for (const second of FORMATS) expect(lastWords(through(second, through(first, asked)))).toBe(lastWords(asked))
  })
})

describe('trap 70: what the upstream should know from before and cannot is refused, never forgotten', () => {
  const OTHERS = FORMATS.filter(format => format !== 'responses')
  const refused = (format: string, more: JsonObject) => {
    const body = { model: 'm', input: 'Go on.', ...more }
    const asked = READERS['responses']!.request!({ path: '/v1/responses', query: {}, headers: {}, body })
    return essentialLosses(WRITERS[format]!.request!(asked, FOREIGN).losses, asked)
  }

  it.each(OTHERS)('an earlier answer, to %s', format => {
    expect(refused(format, { previous_response_id: 'resp_1' })).toMatchObject([{ path: ['state', 'previous'] }])
  })

  it.each(OTHERS)('a turn that is only pointed at, to %s', format => {
    const input = [
      { role: 'user', content: 'Hi.' },
      { type: 'item_reference', id: 'msg_1' },
      { role: 'user', content: 'Go on.' },
    ]
    expect(refused(format, { input })).toMatchObject([{ path: ['messages', 1, 'content', 0] }])
  })
})

import { describe, expect, it } from 'vitest'
import type { Format, JsonObject } from '../../../src/canonical/node.ts'
import { repair } from '../../../src/canonical/repair.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { formatFor } from '../../../src/formats/models.ts'
import { PRESETS } from '../../../src/formats/presets.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { FOREIGN } from '../../builders/write-options.ts'
import { request } from '../arbitrary.ts'
import { handedTo, holds } from '../support.ts'
import { VENDORS } from './index.ts'
import type { StrictVendor } from './vendor.ts'

/** Paths at which clients send each format. Only those of formats that callers speak and vendors share. */
const PATHS: { readonly [format: Format]: string } = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
}

const read = (format: Format, model: string, body: JsonObject): CanonicalRequest =>
  READERS[format]!.request!({ path: PATHS[format]!, query: {}, headers: {}, body: { ...body, model } })

/** Returns what the gateway sends to the vendor. */
function sent({ preset, format }: StrictVendor, asked: CanonicalRequest, native: boolean): JsonObject {
  const { baseUrl, dialect = {} } = PRESETS.get(preset)!.formats.find(one => one.format === format)!
  const channel = { format, baseUrl: baseUrl ?? '', auth: 'bearer', headers: {}, query: {}, dialect } as const
  const options = { native, dialect: formatFor(channel, { model: asked.model, native }).dialect }
  const given = native ? asked : repair(handedTo(format, asked)).request
  return WRITERS[format]!.request!(given, options).wire.body
}

const refused = ({ refusals }: StrictVendor, body: JsonObject, model: string, native: boolean): string[] =>
  refusals.filter(one => (!native || one.native) && one.refuses(body, model)).map(one => one.error)

describe.each(VENDORS)('$preset in $format', vendor => {
  const { format, models, refusals } = vendor

  it.each(refusals)('refuses its own example: $error', ({ refuses, example }) => {
    expect(models.some(model => refuses(example, model))).toBe(true)
  })

  describe.each(models)('%s', model => {
    it('gets nothing that it refuses from callers of other formats', () => {
      const examples = refusals.map(({ example }) => read(format, model, example))
      holds(
        request,
        given => {
          const body = sent(vendor, { ...given, model }, false)
          expect(refused(vendor, body, model, false)).toEqual([])
        },
        examples,
      )
    })

    it('gets nothing from callers of its own format that these do not choose', () => {
      const examples = refusals.filter(one => one.native).map(({ example }) => read(format, model, example))
      const asClientsWrite = request.map(given =>
        read(format, model, WRITERS[format]!.request!(repair(handedTo(format, given)).request, FOREIGN).wire.body),
      )
      holds(
        asClientsWrite,
        given => {
          const body = sent(vendor, given, true)
          expect(refused(vendor, body, model, true)).toEqual([])
        },
        examples,
      )
    })
  })
})

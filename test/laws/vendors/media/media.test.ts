import { describe, expect, it } from 'vitest'
import { BufferedBytes } from '../../../../src/canonical/bytes.ts'
import type { Format, JsonObject } from '../../../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../../../src/canonical/request.ts'
import type { WireRequest } from '../../../../src/canonical/wire.ts'
import { WRITERS } from '../../../../src/egress/index.ts'
import { formatFor } from '../../../../src/formats/models.ts'
import { PRESETS } from '../../../../src/formats/presets.ts'
import { READERS } from '../../../../src/ingress/index.ts'
import { handedTo, holds } from '../../support.ts'
import { WORKS } from '../../works.ts'
import { MEDIA_VENDORS } from './index.ts'
import type { StrictMediaVendor } from './media-vendor.ts'

/** Requests of each format that are complete but for the fields of an example, and their path. */
const ASKED: {
  readonly [format: Format]: { readonly path: string; readonly body: JsonObject; readonly file?: string }
} = {
  images: { path: '/v1/images/generations', body: { prompt: 'a' } },
  speech: { path: '/v1/audio/speech', body: { input: 'a' } },
  transcriptions: { path: '/v1/audio/transcriptions', body: {}, file: 'audio/wav' },
  embeddings: { path: '/v1/embeddings', body: { input: ['a'] } },
  rerank: { path: '/v1/rerank', body: { query: 'a', documents: ['a', 'b'] } },
}

const file = (mediaType: string) => ({
  ...{ field: 'file', name: 'a.wav', mediaType },
  bytes: new BufferedBytes(Buffer.from('RIFF')),
})

/** Reads the example of a rule as its vendor's own clients send it. */
function read({ format }: StrictMediaVendor, model: string, example: JsonObject, path?: string): CanonicalRequest {
  const asked = ASKED[format]!
  return READERS[format]!.request!({
    ...{ path: path ?? asked.path, query: {}, headers: {}, body: { ...asked.body, ...example, model } },
    ...(asked.file === undefined ? {} : { files: [file(asked.file)] }),
  })
}

/** Returns the request that the gateway sends to a vendor. */
function sentTo({ preset, format }: StrictMediaVendor, request: CanonicalRequest, native: boolean): WireRequest {
  const { baseUrl, dialect = {} } = PRESETS.get(preset)!.formats.find(one => one.format === format)!
  const channel = { format, baseUrl: baseUrl ?? '', auth: 'bearer', headers: {}, query: {}, dialect } as const
  const { dialect: flags, otherModel = false } = formatFor(channel, { model: request.model, native })
  return WRITERS[format]!.request!(native ? request : handedTo(format, request), {
    ...{ native, dialect: flags, otherModel },
  }).wire
}

/* A vendor's endpoint for media gets nothing that it refuses (docs/decisions/2026-12-01-tables-of-vendors.md). */
describe.each(MEDIA_VENDORS)('$preset in $format', vendor => {
  const { models, refusals, work } = vendor

  const accepts = (request: CanonicalRequest, native: boolean): void => {
    const wire = sentTo(vendor, request, native)
    const broken = refusals.filter(one => (!native || one.native) && one.refuses(wire.body, request.model, wire))
    expect(broken.map(one => one.error)).toEqual([])
  }

  it.each(refusals)('refuses its own example: $error', ({ refuses, example, path }) => {
    const asked = ASKED[vendor.format]!
    const wire = { path: path ?? asked.path, query: {}, headers: {}, body: { ...asked.body, ...example } }
    expect(models.some(model => refuses(wire.body, model, wire))).toBe(true)
  })

  describe.each(models)('%s', model => {
    it('gets nothing that it refuses from callers of other formats', () => {
      const examples = refusals.map(({ example, path }) => read(vendor, model, example, path))
      holds(WORKS[work]!.request, given => accepts({ ...given, model }, false), examples)
    })

    it('gets nothing from callers of its own format that these do not choose', () => {
      for (const { example, path } of refusals.filter(one => one.native))
        accepts(read(vendor, model, example, path), true)
    })
  })
})

import { describe, expect, it } from 'vitest'
import type { Format, JsonObject } from '../../../src/canonical/node.ts'
import { repair } from '../../../src/canonical/repair.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { FOREIGN } from '../../builders/write-options.ts'
import { request } from '../arbitrary.ts'
import { oddSchema } from '../odd-schemas.ts'
import { handedTo, holds, RUNS } from '../support.ts'
import { askedForAnswer, askedWithTool, BODIES_WITH_TOOL } from './asked.ts'
import { VENDORS } from './index.ts'
import { refusedBy, sentTo } from './sent.ts'

/** Number of odd schemas for each model of a vendor: each is sent in four ways. */
const ODD_RUNS = Math.ceil(RUNS / 3)

/** Paths at which clients send each format. Only those of formats that callers speak and vendors share. */
const PATHS: { readonly [format: Format]: (model: string) => string } = {
  chat: () => '/v1/chat/completions',
  responses: () => '/v1/responses',
  messages: () => '/v1/messages',
  contents: model => `/v1beta/models/${model}:generateContent`,
}

const read = (format: Format, model: string, body: JsonObject): CanonicalRequest =>
  READERS[format]!.request!({ path: PATHS[format]!(model), query: {}, headers: {}, body: { ...body, model } })

describe.each(VENDORS)('$preset $baseUrl in $format', vendor => {
  const { format, models, refusals } = vendor

  it.each(refusals)('refuses its own example: $error', ({ refuses, example }) => {
    expect(models.some(model => refuses(example, model))).toBe(true)
  })

  describe.each(models)('%s', model => {
    const accepts = (asked: CanonicalRequest, native: boolean): void => {
      const body = sentTo(vendor, { ...asked, model }, { native })
      expect(refusedBy(vendor, body, model, { native })).toEqual([])
    }

    it('gets nothing that it refuses from callers of other formats', () => {
      const examples = refusals.map(({ example }) => read(format, model, example))
      holds(request, given => accepts(given, false), examples)
    })

    it('gets nothing from callers of its own format that these do not choose', () => {
      const examples = refusals.filter(one => one.native).map(({ example }) => read(format, model, example))
      const asClientsWrite = request.map(given =>
        read(format, model, WRITERS[format]!.request!(repair(handedTo(format, given)).request, FOREIGN).wire.body),
      )
      holds(asClientsWrite, given => accepts(given, true), examples)
    })

    it('gets no schema that it refuses, however odd those of the caller are', () => {
      holds(
        oddSchema,
        schema => {
          accepts(askedWithTool(schema), false)
          accepts(askedWithTool(schema, true), false)
          accepts(askedForAnswer(schema), false)
          accepts(read(format, model, BODIES_WITH_TOOL[format]!(schema)), true)
        },
        [],
        ODD_RUNS,
      )
    })
  })
})

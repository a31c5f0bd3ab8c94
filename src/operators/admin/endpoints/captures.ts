import * as v from 'valibot'
import { fields, instantOf, text, word } from '../../../config/schema.ts'
import { CAPTURE, type CaptureDocument, FIXTURE, SIDE_RECORDING } from '../../../gateway/capture/shapes.ts'
import type { Administration } from '../administration.ts'
import { endpoint } from '../endpoint.ts'
import { sideRecordings } from '../exchange-recordings.ts'
import { fixtureOf } from '../fixture.ts'
import { invalidInput, Problem } from '../problem.ts'
import { resend } from '../resend.ts'
import { allOf } from '../shapes.ts'

const id = fields({ id: word })

const getCapture = endpoint({
  method: 'get',
  path: '/requests/{id}/capture',
  role: 'admin',
  operation: 'getCapture',
  summary:
    'Returns the capture of a request: as sent, canonical, at the upstream and as returned, without credentials.',
  params: id,
  answer: CAPTURE,
  problems: ['not-found'],
  handle: async (gateway, { params }) => {
    const captured = await captureOf(gateway, params.id)
    return { ...captured, at: instantOf(captured.at) }
  },
})

const dropCapture = endpoint({
  method: 'delete',
  path: '/requests/{id}/capture',
  operation: 'dropCapture',
  summary: 'Deletes the capture of a request.',
  params: id,
  problems: ['not-found'],
  handle: async ({ captures }, { params }) => {
    if (!(await captures.records.drop(params.id))) throw UNKNOWN_CAPTURE
    return {}
  },
})

const replayRequest = endpoint({
  method: 'post',
  path: '/requests/{id}/replay',
  operation: 'replayRequest',
  summary:
    'Sends a captured request again with its key, optionally to a given channel. The new request is captured too.',
  params: id,
  body: fields({ channel: v.optional(text()) }),
  status: 202,
  answer: fields({ id: v.string() }),
  problems: ['not-found', 'not-repeatable'],
  handle: async (gateway, { params, body: { channel } }) => {
    const captured = await captureOf(gateway, params.id)
    if (channel !== undefined && !gateway.config.channels.some(({ name }) => name === channel))
      throw invalidInput({ pointer: '/channel', detail: 'there is no such channel' })
    return { id: resend(gateway, captured, channel) }
  },
})

const getFixture = endpoint({
  method: 'get',
  path: '/requests/{id}/fixture',
  role: 'admin',
  operation: 'getFixture',
  summary: 'Returns a captured request as fixture files, in the formats of its caller and its upstream.',
  params: id,
  answer: FIXTURE,
  problems: ['not-found'],
  handle: async (gateway, { params }) => ({ files: fixtureOf(await captureOf(gateway, params.id)) }),
})

const getRecordings = endpoint({
  method: 'get',
  path: '/requests/{id}/recordings',
  role: 'admin',
  operation: 'getRecordings',
  summary:
    'Returns a captured request as recordings of its two sides, without credentials, for `interlingua replay` and `interlingua conformance judge`.',
  params: id,
  answer: allOf(SIDE_RECORDING),
  problems: ['not-found'],
  handle: async (gateway, { params }) => ({ data: [...(await sideRecordings(await captureOf(gateway, params.id)))] }),
})

async function captureOf({ captures }: Administration, id: string): Promise<CaptureDocument> {
  const found = await captures.find(id)
  if (found === undefined) throw UNKNOWN_CAPTURE
  return found
}

const UNKNOWN_CAPTURE = new Problem('not-found', 'There is no capture of this request, or it has been deleted.')

/** Endpoints for captured requests: read, delete, send again, export as a fixture or as recordings. */
export const CAPTURES = [getCapture, dropCapture, replayRequest, getFixture, getRecordings]

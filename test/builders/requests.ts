import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { WireRequest } from '../../src/canonical/wire.ts'

/** The least canonical request: model `m` and nothing else. */
export const REQUEST: CanonicalRequest = { model: 'm', messages: [], output: {}, sampling: {}, stream: false }

/** The least canonical request for a stream. */
export const STREAM_REQUEST: CanonicalRequest = { ...REQUEST, stream: true }

/** A request on the wire without query and headers. */
export const wireRequest = (path: string, body: JsonObject): WireRequest => ({ path, query: {}, headers: {}, body })

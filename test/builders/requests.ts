import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { WireRequest } from '../../src/canonical/wire.ts'

/** The smallest canonical request: model `m` and nothing else. */
export const REQUEST: CanonicalRequest = { model: 'm', messages: [], output: {}, sampling: {}, stream: false }

/** The smallest canonical request for a stream. */
export const STREAM_REQUEST: CanonicalRequest = { ...REQUEST, stream: true }

/** Returns a wire request without query and headers. */
export const wireRequest = (path: string, body: JsonObject): WireRequest => ({ path, query: {}, headers: {}, body })

import { defined, isObject, type JsonObject } from '../../../canonical/node.ts'

/*
 * Cassettes of VCR for Ruby, and of its ports to R and Go (github.com/vcr/vcr, version 6.4, and 1,700 cassettes of
 * crmne/ruby_llm, read on 2026-12-01).
 */

/** Matches what a filter of secrets puts in place of an address. */
const FILTERED_ADDRESS = /^<[^<>]*>/

/** Returns an interaction with the names of vcrpy's fields. Other values are returned as they are. */
export function withNamesOfPython(interaction: unknown): unknown {
  if (!isObject(interaction)) return interaction
  const { request, response, recorded_at } = interaction as JsonObject
  if (!isObject(request) || !isObject(response)) return interaction
  const { uri, body, headers, ...rest } = request as JsonObject
  const { body: answer, headers: answerHeaders, ...answerRest } = response as JsonObject
  return {
    request: {
      ...rest,
      ...defined({ body: bytesOf(body), headers: headers ?? undefined }),
      uri: typeof uri === 'string' ? uri.replace(FILTERED_ADDRESS, '') : uri,
    },
    response: { ...answerRest, ...defined({ body: bytesOf(answer), headers: answerHeaders ?? undefined }) },
    ...defined({ recorded_at: typeof recorded_at === 'string' ? recorded_at : undefined }),
  }
}

/** Returns the text or the bytes of a body, which is a text with its encoding, or base64. */
function bytesOf(body: unknown): unknown {
  if (!isObject(body)) return body
  const { string, base64_string: base64 } = body as JsonObject
  return typeof base64 === 'string' ? new Uint8Array(Buffer.from(base64, 'base64')) : string
}

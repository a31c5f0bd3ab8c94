import { defined, isObject, type JsonObject } from '../../../canonical/node.ts'

/**
 * Returns an interaction of go-vcr with the names of vcrpy's fields: `url` is `uri`, and the status is in `code`
 * (gopkg.in/dnaeon/go-vcr, `pkg/cassette`, versions 1 and 2 of its files, read on 2026-12-01). Other values are
 * returned as they are.
 */
export function withNamesOfVcrpy(interaction: unknown): unknown {
  if (!isObject(interaction)) return interaction
  const { request, response, ...rest } = interaction as JsonObject
  if (!isObject(request) || !isObject(response) || request['url'] === undefined) return interaction
  const { url: uri, headers, ...requestRest } = request as JsonObject
  const { code, body, headers: answerHeaders } = response as JsonObject
  return {
    ...rest,
    request: { ...requestRest, ...defined({ uri, headers: headers ?? undefined }) },
    response: { status: { code }, ...defined({ body, headers: answerHeaders ?? undefined }) },
  }
}

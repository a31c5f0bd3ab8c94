import { CallIds } from '../../canonical/call-ids.ts'
import { rowOf } from '../../canonical/maps.ts'
import { type JsonObject, withWireSource } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { readOrExplain } from '../errors/validation-error.ts'
import { object, objects, required, text, withDefined } from '../fields.ts'
import { checkModel, NO_METHOD, readAddress } from './address.ts'
import { readContents, readInstruction } from './content.ts'
import { counts, readWrapped } from './count.ts'
import { asList, contentsExtras, FORMAT, inCamelCase } from './fields.ts'
import { readGeneration } from './generation.ts'
import { readToolConfig, readTools } from './tools.ts'
import * as wire from './wire.ts'

/**
 * Reads the body of `POST /{version}/models/{model}:generateContent`, `:streamGenerateContent` or `:countTokens`, which
 * takes the same request, wrapped or not (docs/wire/contents.md#token-counting).
 *
 * @throws GatewayError `not-found` for another method, `invalid-request` naming the field at fault.
 */
export function readRequest(incoming: WireRequest): CanonicalRequest {
  const { model, method } = readAddress(incoming.path)
  const stream = rowOf(STREAMS, method)
  if (stream === undefined && !counts(method)) throw NO_METHOD
  return readOrExplain(
    () => wire.requestAt(incoming),
    incoming.body,
    () => {
      const request =
        stream === undefined
          ? readWrapped(incoming.body, model, body => readBody(body, model, false))
          : readBody(incoming.body, model, stream)
      return withWireSource(request, FORMAT, incoming)
    },
  )
}

const STREAMS: { readonly [method: string]: boolean } = { generateContent: false, streamGenerateContent: true }

const KNOWN_FIELDS = new Set([
  ...['model', 'contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig', 'labels', 'serviceTier'],
])

/** Known fields, including format-specific ones. Their names are normalized to camelCase. */
const REQUEST_FIELDS = new Set([...KNOWN_FIELDS, 'safetySettings', 'cachedContent', 'store'])

function readBody(body: JsonObject, model: string, stream: boolean): CanonicalRequest {
  const fields = inCamelCase(body, REQUEST_FIELDS)
  checkModel(text(fields['model']), model)
  const ids = new CallIds()
  const system = readInstruction(fields['systemInstruction'], ids)
  const messages = readContents(required(objects(asList(fields['contents']))), ids)
  const { choice, extras: toolConfig } = readToolConfig(fields['toolConfig'])
  const { output, sampling, reasoning, extras: generationConfig } = readGeneration(fields['generationConfig'])
  return withDefined(
    { model, messages: [...system, ...messages], output, sampling, stream },
    {
      tools: readTools(fields['tools']),
      toolChoice: choice,
      reasoning,
      metadata: object(fields['labels']),
      serviceTier: readTier(text(fields['serviceTier'])),
      extras: contentsExtras(fields, KNOWN_FIELDS, { toolConfig, generationConfig }).extras,
    },
  )
}

const readTier = (value: string | undefined): string | undefined => {
  const tier = value?.toLowerCase()
  return tier === 'standard' ? 'default' : tier
}

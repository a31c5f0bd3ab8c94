import { type JsonObject, withWireSource } from '../../canonical/node.ts'
import type { CanonicalRequest, State } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { readOrExplain } from '../errors/validation-error.ts'
import { defined, extrasOf, flag, object, required, text, WrongType, withDefined } from '../fields.ts'
import { readHistory } from './input.ts'
import { readOutput } from './output.ts'
import { readGeneration } from './settings.ts'
import { readToolChoice, readTools } from './tools.ts'
import * as wire from './wire.ts'
import { FORMAT, namesOne } from './wire.ts'

/**
 * Reads the body of `POST /v1beta/interactions` (docs/wire/interactions.md#request).
 *
 * @throws GatewayError `invalid-request` naming the field at fault.
 */
export const readRequest = (incoming: WireRequest): CanonicalRequest =>
  readOrExplain(wire.request, incoming.body, () => withWireSource(readBody(incoming.body), FORMAT, incoming))

const KNOWN_FIELDS = new Set([
  ...['model', 'agent', 'input', 'system_instruction', 'tools', 'generation_config', 'labels', 'service_tier'],
  ...['response_format', 'response_mime_type', 'response_modalities'],
  ...['store', 'previous_interaction_id', 'background', 'stream'],
])

function readBody(body: JsonObject): CanonicalRequest {
  const unreadFields: string[] = []
  if (!namesOne(body)) throw WrongType.instance
  const model = text(body['model'])
  const agent = text(body['agent'])
  const messages = readHistory(body)
  const config = object(body['generation_config']) ?? {}
  const { sampling, reasoning, voice, image, extras } = readGeneration(config)
  const output = readOutput(body, { voice, image }, unreadFields)
  const state = defined({
    store: flag(body['store']),
    previous: text(body['previous_interaction_id']),
    background: flag(body['background']),
  }) satisfies State
  const others = extrasOf(FORMAT, body, KNOWN_FIELDS, unreadFields).extras?.[FORMAT]
  const allExtras = { ...others, ...(extras === undefined ? {} : { generation_config: extras }) }
  return withDefined(
    { model: required(model ?? agent), messages, output, sampling, stream: flag(body['stream']) ?? false },
    {
      tools: readTools(body['tools']),
      toolChoice: readToolChoice(config['tool_choice']),
      reasoning,
      state: Object.keys(state).length === 0 ? undefined : state,
      metadata: object(body['labels']),
      serviceTier: readTier(text(body['service_tier'])),
      extras: Object.keys(allExtras).length === 0 ? undefined : { [FORMAT]: allExtras },
      spelling: agent === undefined ? undefined : { [FORMAT]: { agent: true } },
    },
  )
}

/** Reads a service tier. `standard` corresponds to the default tier of other formats. */
export const readTier = (tier: string | undefined): string | undefined => (tier === 'standard' ? 'default' : tier)

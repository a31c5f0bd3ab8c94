import { rowOf } from '../../canonical/maps.ts'
import { type JsonObject, put, withWireSource } from '../../canonical/node.ts'
import type { CanonicalRequest, Output, Sampling } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { SETTINGS } from '../../formats/settings/converse.ts'
import { readOrExplain } from '../errors/validation-error.ts'
import { extrasOf, object, objects, required, text, texts, withDefined } from '../fields.ts'
import { readSettings } from '../settings.ts'
import { type Address, readAddress } from './address.ts'
import { readSystem, readTurn } from './content.ts'
import { readEffort, readModelEffort, readThinking, readTopK } from './reasoning.ts'
import { readShape } from './shape.ts'
import { readToolChoice, readTools } from './tools.ts'
import { FORMAT, requestAt } from './wire.ts'

/**
 * Reads the body of Converse, ConverseStream or CountTokens (docs/wire/converse.md#request).
 *
 * @throws GatewayError `invalid-request` naming the field at fault.
 */
export function readRequest(incoming: WireRequest): CanonicalRequest {
  const address = readAddress(incoming.path)
  return readOrExplain(
    () => requestAt(incoming),
    incoming.body,
    () => withWireSource(readBody(incoming.body, address), FORMAT, incoming),
  )
}

function readBody(body: JsonObject, { model, operation }: Address): CanonicalRequest {
  if (operation !== 'count-tokens') return readConversation(body, model, operation === 'converse-stream', {})
  const input = required(object(body['input']))
  const wire = required(object(input['converse']))
  const outer = {
    ...extrasOf(FORMAT, body, INPUT).extras?.[FORMAT],
    ...extrasOf(FORMAT, input, CONVERSE).extras?.[FORMAT],
  }
  const countRequest = readConversation(wire, model, false, outer)
  return { ...countRequest, output: { ...countRequest.output, count: true } }
}

const INPUT = new Set(['input'])
const CONVERSE = new Set(['converse'])

/** @param outer unread fields of the objects that wrap the conversation. */
function readConversation(body: JsonObject, model: string, stream: boolean, outer: JsonObject): CanonicalRequest {
  const groups = groupsIn(body)
  const { inferenceConfig, modelFields, outputConfig, toolConfig } = groups
  const settings = readSettings(SETTINGS, inferenceConfig)
  const messages = [...readSystem(body), ...(objects(body['messages']) ?? []).flatMap(readTurn)]
  text(outputConfig['effort'])
  const effort = readEffort(outputConfig['effort'])
  const thinking = readThinking(modelFields['thinking'], effort)
  const own = thinking === undefined && effort === undefined ? readModelEffort(modelFields) : undefined
  const shape = readShape(outputConfig)
  const topK = readTopK(modelFields)
  const output: Output = withDefined(settings.output, { text: shape })
  const sampling: Sampling = withDefined(settings.sampling, { topK, stop: texts(inferenceConfig['stopSequences']) })
  const tier = object(body['serviceTier'])
  const knownFields: KnownFields = {
    inferenceConfig: INFERENCE,
    additionalModelRequestFields: takenFields({ thinking, top_k: topK, ...(own && { [own.field]: own.reasoning }) }),
    outputConfig: takenFields({ effort, textFormat: shape }),
    toolConfig: TOOLS,
    serviceTier: TIER,
  }
  return withDefined(
    { model, messages, output, sampling, stream },
    {
      tools: readTools(toolConfig['tools']),
      toolChoice: readToolChoice(toolConfig['toolChoice']),
      reasoning: thinking ?? own?.reasoning ?? (effort === undefined ? undefined : { effort }),
      metadata: object(body['requestMetadata']),
      serviceTier: text(tier?.['type']),
      extras: readExtras(body, knownFields, outer),
    },
  )
}

const NO_EXTRAS: JsonObject = {}

const groupsIn = (body: JsonObject) => ({
  inferenceConfig: object(body['inferenceConfig']) ?? NO_EXTRAS,
  modelFields: object(body['additionalModelRequestFields']) ?? NO_EXTRAS,
  outputConfig: object(body['outputConfig']) ?? NO_EXTRAS,
  toolConfig: object(body['toolConfig']) ?? NO_EXTRAS,
})

const INFERENCE = new Set([...SETTINGS.taken, 'stopSequences'])
const TOOLS = new Set(['tools', 'toolChoice'])
const TIER = new Set(['type'])

/** Returns the names of the fields that were read. */
const takenFields = (fields: { readonly [field: string]: unknown }): ReadonlySet<string> =>
  new Set(Object.keys(fields).filter(field => fields[field] !== undefined))

/** Fields that were read, by group. */
type KnownFields = { readonly [group: string]: ReadonlySet<string> }

const FIELDS = new Set(['messages', 'system', 'requestMetadata'])

/** Collects fields that the canonical model lacks. Fields inside a group are stored under the group's name. */
function readExtras(body: JsonObject, knownFields: KnownFields, outer: JsonObject): CanonicalRequest['extras'] {
  const fields: { [field: string]: JsonObject[string] } = { ...outer }
  const found = extrasOf(FORMAT, body, FIELDS).extras?.[FORMAT] ?? NO_EXTRAS
  for (const field in found) {
    const group = rowOf(knownFields, field)
    const unread = group === undefined ? found[field] : extrasOf(FORMAT, object(found[field])!, group).extras?.[FORMAT]
    if (unread !== undefined) put(fields, field, unread)
  }
  return Object.keys(fields).length === 0 ? undefined : { [FORMAT]: fields }
}

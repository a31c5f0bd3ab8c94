import type { Losses } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { ResponsesDialect } from '../../formats/dialects/responses.ts'
import { type BodyChanges, withFields } from '../native.ts'
import { withArkFields } from './ark-fields.ts'

/*
 * xAI refuses some of OpenAI's fields: "Argument not supported: metadata" (Open-WebUI-OpenRouter-pipe#62,
 * DeepSeek-Reasonix#9822), "Argument not supported: service_tier" (hermes-agent#32443), "Argument not supported:
 * instructions and previous_response_id together" (vibecad#4), and the container of a code interpreter (LiteLLM 1.110.2,
 * `llms/xai/responses`; all read on 2026-12-01).
 */

/** Returns the body without the fields that the upstream refuses. The same body if it has none of them. */
export function withoutRefusedFields(
  body: JsonObject,
  { request_fields }: ResponsesDialect,
  losses: Losses,
): JsonObject {
  if (request_fields === 'ark') return withArkFields(body, losses)
  if (request_fields !== 'xai') return body
  if (body['metadata'] != null) losses.drop(['metadata'], 'no-metadata')
  if (body['service_tier'] != null) losses.drop(['serviceTier'], 'no-tiers')
  const changes = { ...instructionsAsInput(body), ...toolsWithoutContainers(body) }
  return withFields(
    body,
    changes,
    REFUSED.filter(field => body[field] !== undefined),
  )
}

const REFUSED = ['metadata', 'service_tier'] as const

/** Moves the instructions of a request that continues an answer into its input. */
function instructionsAsInput({ instructions, input, previous_response_id: previous }: JsonObject): BodyChanges {
  if (typeof instructions !== 'string' || previous == null) return {}
  const items: readonly Json[] = Array.isArray(input) ? input : [{ role: 'user', content: input ?? '' }]
  return { instructions: undefined, input: [{ role: 'system', content: instructions }, ...items] }
}

function toolsWithoutContainers({ tools }: JsonObject): BodyChanges {
  if (!Array.isArray(tools) || !tools.some(hasAutomaticContainer)) return {}
  return { tools: tools.map(tool => (hasAutomaticContainer(tool) ? withoutContainer(tool as JsonObject) : tool)) }
}

/** Returns true for a code interpreter whose container the upstream chooses, as xAI always does. */
const hasAutomaticContainer = (tool: Json): boolean =>
  isObject(tool) &&
  tool['type'] === 'code_interpreter' &&
  isObject(tool['container']) &&
  tool['container']['type'] === 'auto'

const withoutContainer = (tool: JsonObject): JsonObject => withFields(tool, {}, ['container'])

import { Losses } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject, unchangedWire } from '../../canonical/node.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import type { Pauses } from '../writer.ts'
import { writeAnswerPart } from './answer.ts'
import { FORMAT } from './context.ts'

/**
 * Returns true if a turn of the model may pause (`pause_turn`): only requests pause that have tools which the upstream
 * runs itself (docs/wire/messages.md#stop-reasons).
 */
const mayPause = ({ body }: WireRequest): boolean =>
  body['mcp_servers'] !== undefined || (Array.isArray(body['tools']) && body['tools'].some(isHosted))

/** Returns true for a tool of a type that the API defines. A few of those run at the caller, whose turns never pause. */
const isHosted = (tool: Json): boolean =>
  isObject(tool) && typeof tool['type'] === 'string' && tool['type'] !== 'custom'

/**
 * Writes the request that has the model go on with its paused turn: the paused request with the answer as its last turn.
 *
 * @param answer the paused answer, with the tool names that the upstream knows.
 */
function continued({ body, ...request }: WireRequest, answer: CanonicalResult): WireRequest {
  const turns = body['messages'] as readonly JsonObject[]
  const last = turns.at(-1)
  const blocks = blocksOf(answer)
  const messages =
    last?.['role'] === 'assistant' && Array.isArray(last['content'])
      ? [...turns.slice(0, -1), { ...last, content: [...last['content'], ...blocks] }]
      : [...turns, { role: 'assistant', content: blocks }]
  return { ...request, body: { ...body, messages, ...containerOf(body, answer) } }
}

/** Returns the blocks of an answer as the upstream sent them. */
function blocksOf(answer: CanonicalResult): readonly Json[] {
  const received = unchangedWire<JsonObject>(answer, FORMAT)?.['content']
  if (Array.isArray(received)) return received
  const losses = new Losses()
  const content = answer.candidates[0]?.content ?? []
  return content.flatMap((part, index) => writeAnswerPart(part, ['content', index], losses) ?? [])
}

/** Returns the container in which the answer's code runs, so that its files are there when the model goes on. */
function containerOf(body: JsonObject, { extras }: CanonicalResult): JsonObject {
  const container = extras?.[FORMAT]?.['container']
  const id = isObject(container) ? container['id'] : undefined
  if (typeof id !== 'string') return {}
  const requested = body['container']
  return { container: isObject(requested) ? { ...requested, id } : id }
}

/** Continuation of answers in which Claude paused (`pause_turn`). */
export const pauses: Pauses = { mayPause, continued }

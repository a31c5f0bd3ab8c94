import { isObject, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { BodyChanges } from '../native.ts'
import { forcedInThinking } from '../sanitize/forced-tools.ts'
import type { WriteContext } from './context.ts'
import { isDisabled } from './thinking.ts'

/** Returns the changed fields of a native body that forces a call while the model thinks, as Claude Code does to search. */
export function withFreeTools(request: CanonicalRequest, body: JsonObject, context: WriteContext): BodyChanges {
  const { dialect, losses } = context
  const { tool_choice: choice } = body
  if (dialect.forced_while_thinking !== false || !isObject(choice) || isDisabled(body['thinking'])) return {}
  const became = forcedInThinking(request, losses)
  if (became === request) return {}
  if (became.toolChoice === request.toolChoice) return { thinking: { type: 'disabled' } }
  const { name: _, ...others } = choice
  return { tool_choice: { ...others, type: 'auto' } }
}

import type { Part, ReasoningPart, ToolCallPart } from '../../canonical/content.ts'
import { parseCallData } from '../../canonical/exact-numbers.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { type EndContent, type Finish, type FinishReason, impliedReason } from '../../canonical/result.ts'
import { wrapReasoning } from '../../canonical/signature.ts'
import { isSearch } from '../searches.ts'
import { contentExtras, writeContent } from './content.ts'
import { FORMAT } from './context.ts'
import { isContent, stepFields, writeCall, writeSearch, writeThought } from './steps.ts'

/* Code shared by unary and streamed answers. */

/** Writes the parts of an answer as steps. Adjacent contents form one step. */
export function writeSteps(content: readonly Part[], path: Path, losses: Losses): readonly JsonObject[] {
  const steps: JsonObject[] = []
  let contents: JsonObject[] | undefined
  for (const [index, part] of content.entries()) {
    const at = [...path, index]
    if (!isContent(part)) {
      const step = writeStep(part, at, losses)
      if (step !== undefined) steps.push(step)
      if (step !== undefined) contents = undefined
      continue
    }
    const wire = writeContent(part, at, losses)
    if (wire === undefined) continue
    const fields = stepFields(part)
    if (contents === undefined || fields !== undefined) {
      contents = []
      steps.push({ type: 'model_output', content: contents, ...fields })
    }
    contents.push(wire)
  }
  return steps
}

/** Writes a part that becomes a separate step. Returns undefined if the format has no step for it. */
function writeStep(part: Part, path: Path, losses: Losses): JsonObject | undefined {
  if (part.type === 'opaque') return part.value
  reportStep(part, path, losses)
  if (part.type === 'reasoning')
    return isEmptyReasoning(part)
      ? undefined
      : writeThought(isHidden(part) ? { ...part, text: '' } : part, signatureOf(part))
  if (part.type === 'tool-call') return writeCall(part, returnedArguments(part))
  return isSearch(part) ? writeSearch(part) : undefined
}

/** Returns the arguments of a call. The model may have written something other than an object. */
function returnedArguments({ arguments: text, freeform }: ToolCallPart): Json {
  if (freeform !== undefined) return { input: text }
  if (text === '') return {}
  const value = parseCallData(text)
  return typeof value === 'object' && value !== null ? value : text
}

/** Reports what is lost from a part, other than its content. */
export function reportStep(part: Exclude<Part, { type: 'opaque' }>, path: Path, losses: Losses): void {
  if (part.cache !== undefined) losses.drop([...path, 'cache'], 'no-cache-markers')
  if (part.type === 'tool-call') reportCall(part, path, losses)
  else if (part.type === 'reasoning') reportReasoning(part, path, losses)
  else if (!isSearch(part)) losses.drop(path, 'no-such-content')
}

function reportCall(part: ToolCallPart, path: Path, losses: Losses): void {
  if (part.freeform !== undefined) {
    losses.change([...path, 'arguments'], JSON.stringify(returnedArguments(part)), 'wrapped-as-json')
    losses.drop([...path, 'freeform'], 'wrapped-as-json')
  }
  if (part.namespace !== undefined) losses.drop([...path, 'namespace'], 'no-namespaces')
}

function reportReasoning({ redacted, signature }: ReasoningPart, path: Path, losses: Losses): void {
  if (redacted !== undefined && (signature === undefined || signature.format === FORMAT))
    losses.drop([...path, 'redacted'], 'nothing-hidden')
}

/** Returns true for reasoning without text, signature or other fields. Such reasoning is not written. */
export const isEmptyReasoning = (part: ReasoningPart): boolean =>
  part.text === '' && part.signature === undefined && Object.keys(contentExtras(part)).length === 0

/**
 * Returns the signature of reasoning: unchanged if it is of this format, otherwise wrapped. Clients also return the
 * summary, so the wrapper holds no text unless the text is hidden.
 */
export const signatureOf = ({ signature, redacted, text }: ReasoningPart): string | undefined =>
  signature === undefined
    ? undefined
    : wrapReasoning(
        [redacted === undefined || signature.format === FORMAT ? { signature } : { signature, redacted, text }],
        FORMAT,
      )

/** Returns true for reasoning whose text is contained only in its signature. */
export const isHidden = ({ signature, redacted }: ReasoningPart): boolean =>
  redacted !== undefined && signature !== undefined && signature.format !== FORMAT

const STATUSES: { readonly [R in FinishReason]?: string } = {
  length: 'incomplete',
  paused: 'requires_continuation',
  error: 'failed',
  other: 'cancelled',
}

/**
 * Returns the status of a finished answer (docs/wire/interactions.md#statuses): `requires_action` if it has calls (trap
 * 13).
 */
export function writeStatus(finish: Finish | undefined, content: EndContent): string {
  const reason = finish?.reason ?? 'stop'
  const status = STATUSES[reason]
  if (status !== undefined) return status
  if (reason === 'refused' && !content.refused) return 'incomplete'
  return reason === 'tool-calls' || content.called ? 'requires_action' : 'completed'
}

const REASON_BY_STATUS: { readonly [status: string]: FinishReason } = {
  incomplete: 'length',
  requires_continuation: 'paused',
  requires_action: 'tool-calls',
  cancelled: 'other',
  failed: 'error',
}

/** Reports a difference between the original finish reason and the one that readers read back. */
export function reportFinish(finish: Finish | undefined, content: EndContent, path: Path, losses: Losses): void {
  const status = writeStatus(finish, content)
  const reason = REASON_BY_STATUS[status] ?? impliedReason({ called: content.called, refused: false })
  if (finish === undefined) return losses.add(path, { reason }, 'reason-required')
  if (finish.stopSequence !== undefined) losses.drop([...path, 'stopSequence'], 'no-stop-sequence')
  if (reason !== finish.reason) losses.change([...path, 'reason'], reason, 'no-such-finish')
}

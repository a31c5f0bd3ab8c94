import type { Part } from '../../canonical/content.ts'
import { Losses, type Path, type Written } from '../../canonical/loss.ts'
import { type Json, type JsonObject, unchangedWire, wireSourceOf } from '../../canonical/node.ts'
import type { CanonicalRequest, Message, State } from '../../canonical/request.ts'
import { isSkipSignature } from '../../canonical/signature.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { INTERACTIONS_REVISION } from '../../formats/dialects/interactions.ts'
import { spellingFor } from '../fields.ts'
import { type NativeRequest, withFields } from '../native.ts'
import { FORMAT, nameField, PATH, type WriteContext } from './context.ts'
import { withSignedCalls, writeMessage, writeParts } from './input.ts'

/** Fields that may change while the rest of a native request is passed on as received. */
export const REWRITTEN: ReadonlySet<string> = new Set(['model', 'messages', 'stream', 'state'])

/** Body fields, and the state that each holds. */
const STATE_FIELDS: readonly (readonly [field: string, of: keyof State])[] = [
  ['store', 'store'],
  ['previous_interaction_id', 'previous'],
  ['background', 'background'],
]

/**
 * Passes on a request of this format as received, except for the gateway's changes and for reasoning that only another
 * upstream can read.
 */
export function writeNativeRequest(request: CanonicalRequest, { node, wire }: NativeRequest): Written<WireRequest> {
  const { model, messages, stream, state } = request
  const context: WriteContext = { dialect: {}, losses: new Losses() }
  const isUnchanged =
    messages.length === node.messages.length &&
    messages.every((message, at) => message === node.messages[at] && isAccepted(message))
  const changedState = STATE_FIELDS.filter(([, of]) => state?.[of] !== node.state?.[of])
  const fields = {
    ...(model === node.model ? {} : { [nameField(request)]: model }),
    ...(stream === node.stream ? {} : { stream }),
    ...(isUnchanged ? {} : { input: nativeInput(messages, wire.body, context) }),
    ...Object.fromEntries(
      changedState.flatMap(([field, of]) => (state?.[of] === undefined ? [] : [[field, state[of] as Json]])),
    ),
  }
  const removedFields = changedState.filter(([, of]) => state?.[of] === undefined).map(([field]) => field)
  const headers = { 'api-revision': INTERACTIONS_REVISION, ...wire.headers }
  const query = stream === node.stream ? wire.query : {}
  const body = withFields(wire.body, fields, removedFields)
  return { wire: { path: PATH, query, headers, body }, losses: context.losses.list }
}

/** Returns true if the upstream accepts the message as received. */
const isAccepted = ({ role, content }: Message): boolean =>
  role !== 'assistant' ||
  content.every((part, index) => part.type !== 'reasoning' || hasOriginalSignature(part, content[index + 1]))

/** Returns true if the step from which the reasoning was read still carries the same signature. */
function hasOriginalSignature(part: Part & { type: 'reasoning' }, next: Part | undefined): boolean {
  const isSignatureOnCall = spellingFor(part, FORMAT)['on'] === 'call'
  const step = isSignatureOnCall
    ? next && unchangedWire<JsonObject>(next, FORMAT)
    : unchangedWire<JsonObject>(part, FORMAT)
  if (step === undefined) return false
  const { signature } = step
  if (part.signature === undefined)
    return signature == null || (typeof signature === 'string' && isSkipSignature(signature))
  return part.signature.format === FORMAT && part.signature.value === signature
}

/** Writes the steps of the messages. The instruction message stays in its own field. */
function nativeInput(messages: readonly Message[], body: JsonObject, context: WriteContext): readonly JsonObject[] {
  const steps: JsonObject[] = []
  let last: JsonObject | undefined
  for (const [index, message] of messages.entries()) {
    if (index === 0 && body['system_instruction'] != null) continue
    const path: Path = ['messages', index]
    const originalStep = message.role === 'assistant' ? undefined : unchangedWire<JsonObject>(message, FORMAT)
    if (originalStep !== undefined) {
      // Several messages may have been read from one step.
      if (originalStep !== last) steps.push(originalStep)
    } else
      for (const step of message.role === 'assistant'
        ? nativeTurn(message, path, context)
        : writeMessage(message, path, context, new Map()))
        steps.push(step)
    last = originalStep
  }
  return steps
}

/** Writes a model turn: each step as received, and the reasoning that the gateway restored. */
function nativeTurn({ content }: Message, path: Path, context: WriteContext): readonly JsonObject[] {
  const steps = content.flatMap((part, index): readonly JsonObject[] => {
    if (part.type === 'reasoning') return nativeThought(part, content[index + 1], path, context)
    // Calls keep their step if the reasoning before them was dropped, because their signature is removed here.
    const step =
      part.type === 'tool-call' ? wireSourceOf<JsonObject>(part, FORMAT)?.wire : unchangedWire<JsonObject>(part, FORMAT)
    // Any other part belongs to the step of an earlier part.
    if (step === undefined) return []
    const before = content[index - 1]
    const isSigned =
      before?.type === 'reasoning' && spellingFor(before, FORMAT)['on'] === 'call' && hasOriginalSignature(before, part)
    return [part.type === 'tool-call' && !isSigned ? withoutForeignSignature(step) : step]
  })
  return withSignedCalls(steps)
}

function nativeThought(
  part: Part & { type: 'reasoning' },
  next: Part | undefined,
  path: Path,
  context: WriteContext,
): readonly JsonObject[] {
  const isSignatureOnCall = spellingFor(part, FORMAT)['on'] === 'call'
  if (hasOriginalSignature(part, next)) return isSignatureOnCall ? [] : [unchangedWire<JsonObject>(part, FORMAT)!]
  return part.signature?.format === FORMAT ? writeParts([part], path, context) : []
}

/** Returns a call without a signature that only another upstream can read. */
function withoutForeignSignature(step: JsonObject): JsonObject {
  if (step['signature'] == null || step['signature'] === '') return step
  const { signature: _, ...call } = step
  return call
}

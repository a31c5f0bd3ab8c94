import { foreignLosses, type Losses, type Unwritten, type Written } from '../../canonical/loss.ts'
import { defined, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Output } from '../../canonical/request.ts'
import type { SettingName } from '../../canonical/settings.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { cohereChatDialect } from '../../formats/dialects/cohere-chat.ts'
import { SETTINGS } from '../../formats/settings/cohere-chat.ts'
import { reportCompletion } from '../completion.ts'
import { extrasFor } from '../fields.ts'
import { sanitize } from '../sanitize/names.ts'
import { NO_STATE, TEXT_ONLY } from '../sanitize/unwritten.ts'
import { writeSettings } from '../settings.ts'
import type { WriteOptions } from '../writer.ts'
import { FORMAT, PATH, type WriteContext } from './context.ts'
import { writeMessages } from './messages.ts'
import { nativeRequest } from './native.ts'
import { writeSampling, writeShape, writeThinking } from './settings.ts'
import { writeToolChoice, writeTools } from './tools.ts'

/** The format's rules for tools and calls, to which tools and calls from other formats are adapted. */
const SANITIZE_RULE = { name: 64, id: 64, freeform: false, namespaces: false }

/** Writes the canonical request as `POST /v2/chat` (docs/wire/cohere-chat.md#request). */
export function writeRequest(original: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  const dialect = cohereChatDialect(options.dialect)
  const nativeWire = options.native ? nativeRequest(original, dialect) : undefined
  if (nativeWire !== undefined) return nativeWire
  const { request, losses, renamed } = sanitize(original, SANITIZE_RULE)
  losses.report(foreignLosses(request, FORMAT))
  const context: WriteContext = { dialect, losses, documents: [] }
  const messages = writeMessages(request.messages, context)
  const tools = writeTools(request, context)
  const body: { readonly [field: string]: Json | undefined } = {
    model: request.model,
    messages,
    ...(context.documents.length === 0 ? {} : { documents: context.documents }),
    ...tools,
    tool_choice: writeToolChoice(request, tools['tools'] !== undefined, context),
    ...writeSettings(SETTINGS, request, losses),
    ...writeSampling(request.sampling, losses),
    response_format: writeShape(request, tools['tools'] !== undefined, losses),
    thinking: writeThinking(request.reasoning, context),
    ...extrasFor(request, FORMAT),
    ...(request.stream ? { stream: true } : {}),
  }
  reportLosses(request, losses)
  const wire = { path: PATH, query: {}, headers: {}, body: defined(body) as JsonObject }
  return { wire, losses: losses.list, renamed }
}

const REQUEST_LOSSES: Unwritten<
  CanonicalRequest,
  | SettingName
  | ('model' | 'messages' | 'tools' | 'toolChoice' | 'output' | 'sampling' | 'reasoning' | 'state' | 'stream')
> = { cache: 'no-automatic-caching' }

const OUTPUT_LOSSES: Unwritten<
  Output,
  SettingName | 'text' | 'ranking' | 'completion' | 'count' | 'compaction' | 'modalities'
> = TEXT_ONLY

/** Reports request fields that the format lacks. */
function reportLosses(request: CanonicalRequest, losses: Losses): void {
  losses.dropFields(request, [], REQUEST_LOSSES)
  losses.dropFields(request.state, ['state'], NO_STATE)
  losses.dropFields(request.output, ['output'], OUTPUT_LOSSES)
  if (request.output.modalities !== undefined) losses.drop(['output', 'modalities'], 'text-only')
  reportCompletion(request.output, losses)
}

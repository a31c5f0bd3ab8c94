import { foreignLosses, type Unwritten, type Written } from '../../canonical/loss.ts'
import { defined, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { SettingName } from '../../canonical/settings.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { INTERACTIONS_REVISION, interactionsDialect } from '../../formats/dialects/interactions.ts'
import { extrasFor } from '../fields.ts'
import { nativeSourceOf } from '../native.ts'
import { withinArrayBounds } from '../sanitize/array-bounds.ts'
import { type SanitizeRule, sanitize } from '../sanitize/names.ts'
import type { WriteOptions } from '../writer.ts'
import { FORMAT, nameField, PATH, type WriteContext } from './context.ts'
import { writeHistory } from './input.ts'
import { REWRITTEN, writeNativeRequest } from './native-request.ts'
import { writeFormat } from './output.ts'
import { writeGeneration, writeLabels, writeServiceTier, writeState } from './settings.ts'
import { writeTools } from './tools.ts'

/** The format's rules for tools and calls, to which tools and calls from other formats are adapted. */
const SANITIZE_RULE: SanitizeRule = { name: 64, beginning: 'word', id: 64, freeform: false, namespaces: false }

/** Headers of requests that the gateway writes itself. */
const HEADERS = { 'api-revision': INTERACTIONS_REVISION }

/** Writes the canonical request as `POST /v1beta/interactions` (docs/wire/interactions.md#request). */
export function writeRequest(original: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  const source = options.native ? nativeSourceOf(original, FORMAT, REWRITTEN) : undefined
  if (source !== undefined) return writeNativeRequest(original, source)
  const { request: legal, losses, renamed } = sanitize(original, SANITIZE_RULE)
  const request = withinArrayBounds(legal, losses)
  losses.report(foreignLosses(request, FORMAT))
  const dialect = interactionsDialect(options.dialect)
  const moved = dialect.result_media === false ? { moved: [] } : {}
  const context: WriteContext = { dialect, losses, ...moved }
  const tools = writeTools(request, context)
  const { generation_config: _, ...extras } = extrasFor(request, FORMAT)
  const body = {
    [nameField(request)]: request.model,
    ...writeHistory(request.messages, context),
    ...(defined({
      tools,
      generation_config: writeGeneration(request, tools !== undefined, context),
      response_format: writeFormat(request, context),
      ...writeState(request, context),
      service_tier: writeServiceTier(request, context),
      labels: writeLabels(request, context),
    }) as JsonObject),
    ...(request.stream ? { stream: true } : {}),
    ...extras,
  }
  losses.dropFields(request, [], REQUEST_LOSSES)
  return { wire: { path: PATH, query: {}, headers: HEADERS, body }, losses: losses.list, renamed }
}

const REQUEST_LOSSES: Unwritten<
  CanonicalRequest,
  | SettingName
  | ('model' | 'messages' | 'tools' | 'toolChoice' | 'output' | 'sampling' | 'reasoning' | 'state' | 'stream')
> = { cache: 'no-cache-markers' }

import { foreign, Losses, type Unwritten, type Written } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { defined, kept, spelt } from '../fields.ts'
import { type Conversational, reportConversational } from '../sanitize/bare.ts'
import type { WriteOptions } from '../writer.ts'
import { embeddingsDialect } from './dialect.ts'
import { FORMAT, type WriteContext, writeInput } from './input.ts'
import { writePurpose } from './purpose.ts'

/** The canonical request as `POST /embeddings` (FORMATS §8). */
export function writeRequest(request: CanonicalRequest, { dialect, native }: WriteOptions): Written<WireRequest> {
  const losses = new Losses()
  losses.report(foreign(request, FORMAT))
  const context: WriteContext = { dialect: embeddingsDialect(dialect), native, losses }
  const settings = writeSettings(request, context)
  const body = {
    ...kept(request, FORMAT),
    model: request.model,
    input: writeInput(request, context),
    ...settings,
  } as JsonObject
  for (const field in settings)
    if (request.extras?.[FORMAT]?.[field] !== undefined) losses.drop(['extras', FORMAT, field], 'said-in-another-field')
  report(request, losses)
  return { wire: { path: '/embeddings', query: {}, headers: {}, body }, losses: losses.list }
}

function writeSettings(request: CanonicalRequest, context: WriteContext): JsonObject {
  const { dialect, native, losses } = context
  const { dimensions, encoding } = request.output.embedding ?? {}
  const own = native ? spelt(request, FORMAT) : {}
  const hidden = encoding === 'float' && dialect.float_encoding === false
  if (hidden) losses.hide(['output', 'embedding', 'encoding'], 'numbers-unasked')
  if (dialect.end_user === false && request.endUser !== undefined) losses.drop(['endUser'], 'no-end-user')
  return defined({
    [String(dialect.dimensions_field ?? own['dimensions'] ?? 'dimensions')]: dimensions,
    [String(dialect.encoding_field ?? own['encoding'] ?? 'encoding_format')]: hidden ? undefined : encoding,
    ...writePurpose(request, context),
    user: dialect.end_user === false ? undefined : request.endUser,
  }) as JsonObject
}

const REQUEST_LOSSES: Unwritten<
  CanonicalRequest,
  Conversational | 'model' | 'messages' | 'output' | 'sampling' | 'endUser' | 'stream'
> = { state: 'no-state' }

function report(request: CanonicalRequest, losses: Losses): void {
  reportConversational(request, losses)
  losses.dropFields(request, [], REQUEST_LOSSES)
}

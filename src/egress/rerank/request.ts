import { GatewayError } from '../../canonical/error.ts'
import { foreign, Losses, type Written } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { defined, kept, spelt } from '../fields.ts'
import { reportUnwritten } from '../sanitize/bare.ts'
import type { WriteOptions } from '../writer.ts'
import { rerankDialect } from './dialect.ts'
import { FORMAT, type WriteContext, writeDocument } from './documents.ts'

const OUTPUT = new Set(['ranking'])

/** The canonical request as `POST /rerank` (FORMATS §9). Throws GatewayError `cannot-express` for any other work. */
export function writeRequest(request: CanonicalRequest, { dialect, native }: WriteOptions): Written<WireRequest> {
  const { ranking } = request.output
  if (ranking === undefined)
    throw new GatewayError({ kind: 'cannot-express', message: 'This upstream does nothing but rank documents.' })
  const { top_field, documents } = rerankDialect(dialect)
  const losses = new Losses()
  losses.report(foreign(request, FORMAT))
  reportUnwritten(request, OUTPUT, losses)
  const own = native ? spelt(request, FORMAT) : {}
  const context: WriteContext = { textOnly: documents === 'text', plain: text => text, losses }
  const echo = own['echo'] === 'default' ? undefined : (ranking.echo ?? false)
  if (ranking.echo === undefined)
    losses.list.push({
      kind: 'added',
      path: ['output', 'ranking', 'echo'],
      became: false,
      reason: 'said-outright',
      restored: true,
    })
  const body = {
    model: request.model,
    query: ranking.query,
    documents: request.messages.map(({ content }, index) =>
      writeDocument(content, ['messages', index, 'content'], context),
    ),
    ...defined({
      [top_field ?? (own['top'] as string | undefined) ?? 'top_n']: ranking.top,
      return_documents: echo,
      rank_fields: context.textOnly ? undefined : own['rank_fields'],
    }),
    ...kept(request, FORMAT),
  } as JsonObject
  return { wire: { path: '/rerank', query: {}, headers: {}, body }, losses: losses.list }
}

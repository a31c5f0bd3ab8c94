import type { TextPart } from '../../canonical/content.ts'
import { GatewayError } from '../../canonical/error.ts'
import { foreign, Losses, type Path, type Unwritten, type Written } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { workOf } from '../../canonical/work.ts'
import { defined, kept } from '../fields.ts'
import { reportUnwritten } from '../sanitize/bare.ts'
import type { WriteOptions } from '../writer.ts'
import { writeEmbed } from './embed.ts'

export const FORMAT = 'cohere'

/** The canonical request as `POST /v2/rerank` or `/v2/embed`. Throws GatewayError `cannot-express` for any other work. */
export function writeRequest(request: CanonicalRequest, { native }: WriteOptions): Written<WireRequest> {
  const losses = new Losses()
  losses.report(foreign(request, FORMAT))
  const work = workOf(request)
  const write = WORK[work]
  if (write === undefined)
    throw new GatewayError({ kind: 'cannot-express', message: 'This upstream does nothing but rank and embed.' })
  return { wire: { query: {}, headers: {}, ...write(request, native, losses) }, losses: losses.list }
}

type Write = (request: CanonicalRequest, native: boolean, losses: Losses) => Pick<WireRequest, 'path' | 'body'>

const WORK: { readonly [work: string]: Write } = {
  ranking: writeRerank,
  embedding: (request, native, losses) => ({ path: '/v2/embed', body: writeEmbed(request, native, losses) }),
}

const RANKING = new Set(['ranking'])

/** The gateway adds the content of documents itself, so nothing is lost where the caller wants it. */
function writeRerank(request: CanonicalRequest, _: boolean, losses: Losses): Pick<WireRequest, 'path' | 'body'> {
  const ranking = request.output.ranking!
  reportUnwritten(request, RANKING, losses)
  const echo: Path = ['output', 'ranking', 'echo']
  if (ranking.echo === true) losses.rename(echo, false, 'told-again-by-the-gateway')
  if (ranking.echo === undefined)
    losses.list.push({ kind: 'added', path: echo, became: false, reason: 'said-outright', restored: true })
  const documents = request.messages.map((message, index) =>
    writeDocument(message, ['messages', index, 'content'], losses),
  )
  const body = {
    model: request.model,
    query: ranking.query,
    documents,
    ...defined({ top_n: ranking.top }),
    ...kept(request, FORMAT),
  } as JsonObject
  return { path: '/v2/rerank', body }
}

const NO_MARKS: Unwritten<TextPart, 'type' | 'text'> = { cache: 'no-cache-markers', annotations: 'no-annotations' }

/** All texts of a document as one; other parts are lost. */
function writeDocument({ content }: Message, path: Path, losses: Losses): string {
  const texts: string[] = []
  for (const [index, part] of content.entries()) {
    const at = [...path, index]
    // A part of another format: its loss is reported with all such.
    if (part.type === 'opaque' && part.format !== FORMAT) {
      if (part.text !== undefined) texts.push(part.text)
    } else if (part.type !== 'text') losses.drop(at, 'documents-are-text')
    else {
      losses.dropFields(part, at, NO_MARKS)
      for (const field in part.extras?.[FORMAT]) losses.drop([...at, 'extras', FORMAT, field], 'no-place-for-it')
      texts.push(part.text)
    }
  }
  const text = texts.join('\n')
  if (texts.length > 1) losses.change(path, [{ type: 'text', text }], 'one-text-each')
  return text
}

import type { Made } from '../../canonical/content.ts'
import { foreign, Losses, type Path, type Unwritten, type Written } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { defined, kept, spelt } from '../fields.ts'
import { writeMade } from '../media/image-settings.ts'
import { isPicture, noImageError, startsFromImages, writePicture } from './answer.ts'
import { FORMAT, outputFormatOfType, typeOfOutputFormat } from './types.ts'
import { writeUsage } from './usage.ts'

const LOSSES: Unwritten<CanonicalResult, 'createdAt' | 'candidates' | 'usage' | 'complete'> = {
  id: 'no-ids',
  model: 'no-model-told',
  serviceTier: 'no-tiers',
  task: 'no-tasks',
  error: 'no-error-beside-an-answer',
}

/**
 * A whole answer (FORMATS §10): an entry for each image.
 *
 * @throws GatewayError for an answer of another format without any image: `invalid-request` where it was refused, else
 * `upstream-failed`, with the model's text.
 */
export function writeResult(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  const losses = new Losses()
  losses.report(foreign(result, FORMAT))
  losses.dropFields(result, [], LOSSES)
  const own = spelt(result, FORMAT)
  const native = own['output_format'] !== undefined
  if (!native && !result.candidates.some(({ content }) => content.some(isPicture))) throw noImageError(result)
  const format = outputFormatOf(result, own)
  const output_format = format ?? (native && own['output_format'] !== 'absent' ? own['output_format'] : undefined)
  const shared = { format, looks: looksOf(result) }
  const data = result.candidates.flatMap((candidate, index) =>
    writeCandidate(candidate, ['candidates', index], shared, native, losses),
  )
  const body = {
    created: result.createdAt ?? (own['created'] === 'absent' ? undefined : 0),
    data,
    ...shared.looks,
    ...defined({
      output_format,
      usage: result.usage && writeUsage(result.usage, losses, { native, textOnly: !startsFromImages(request) }),
    }),
    ...kept(result, FORMAT),
  }
  if (result.createdAt === undefined && own['created'] !== 'absent') losses.add(['createdAt'], 0, 'time-required')
  return { wire: { status: 200, headers: {}, body: defined(body) as JsonObject }, losses: losses.list }
}

/** A single output format for all images: that of the first; undefined where the upstream gave none, or no bytes. */
function outputFormatOf({ candidates }: CanonicalResult, own: JsonObject): string | undefined {
  if (own['output_format'] === 'absent') return undefined
  const first = candidates
    .flatMap(({ content }) => content)
    .find(part => isPicture(part) && part.source.type === 'base64')
  if (first?.type !== 'media' || first.source.type !== 'base64') return undefined
  const declared = own['output_format']
  if (typeof declared === 'string' && typeOfOutputFormat(declared) === first.source.mediaType) return declared
  return outputFormatOfType(first.source.mediaType)
}

/** The fields that an answer has once for all images. */
interface Shared {
  readonly format: string | undefined
  readonly looks: Omit<Made, 'prompt'>
}

/** The properties of all images: those of the first that has them. */
function looksOf({ candidates }: CanonicalResult): Shared['looks'] {
  const all = candidates.flatMap(({ content }) => content.filter(isPicture)).toReversed()
  const { prompt: _, ...looks } = Object.assign({}, ...all.map(({ made }) => defined({ ...made }))) as Made
  return looks
}

function writeCandidate(
  candidate: Candidate,
  path: Path,
  shared: Shared,
  native: boolean,
  losses: Losses,
): JsonObject[] {
  const { content, finish, ...rest } = candidate
  losses.dropFields(rest, path, { logprobs: 'no-logprobs', transcript: 'no-transcripts' })
  const pictures = content.flatMap((part, index) => {
    if (isPicture(part)) return [{ part, path: [...path, 'content', index] }]
    losses.drop([...path, 'content', index], 'pictures-only')
    return []
  })
  const [first, ...others] = pictures
  if (first === undefined && !native) {
    losses.drop(path, 'no-picture')
    return []
  }
  reportFinish(finish, path, losses)
  const written = pictures.map(({ part, path }, index) => {
    const kind = reportPicture(part, path, shared, losses)
    if (index > 0) {
      losses.drop(path, 'an-entry-for-each-picture')
      losses.insert(behind(path), { content: [kind], finish: { reason: 'stop' } }, 'an-entry-for-each-picture')
    }
    return { ...writePicture(part), ...writeMade(defined({ prompt: part.made?.prompt })) }
  })
  return [{ ...written[0], ...kept(candidate, FORMAT) }, ...others.map((_, index) => written[index + 1]!)]
}

const behind = ([list, index]: Path): Path => [list!, Number(index) + 1]

const DETAILS = {
  name: 'no-names',
  detail: 'no-detail-here',
  transcript: 'no-transcript-here',
  cache: 'no-cache-markers',
}

/** Reports the losses of an image; returns it as it is read from the answer. */
function reportPicture(
  part: Candidate['content'][number] & { type: 'media' },
  path: Path,
  { format, looks }: Shared,
  losses: Losses,
): object {
  losses.dropFields(part, path, DETAILS)
  const made = { ...defined({ prompt: part.made?.prompt }), ...looks }
  reportLooks(part.made, made, [...path, 'made'], losses)
  const { source } = part
  if (source.type === 'url' && source.mediaType !== undefined)
    losses.drop([...path, 'source', 'mediaType'], 'no-media-type-of-addresses')
  if (source.type === 'base64' && format !== undefined && source.mediaType !== typeOfOutputFormat(format))
    losses.change([...path, 'source', 'mediaType'], typeOfOutputFormat(format), 'one-kind-for-all')
  const kept =
    source.type === 'url'
      ? { type: 'url', url: source.url }
      : {
          ...source,
          mediaType: format === undefined && source.type === 'base64' ? source.mediaType : typeOfOutputFormat(format!),
        }
  return { type: 'media', kind: 'image', source: kept, ...(Object.keys(made).length === 0 ? {} : { made }) }
}

/** Images with other properties, or none, are read with those of the first. */
function reportLooks(own: Made | undefined, shared: Made, path: Path, losses: Losses): void {
  if (own === undefined) {
    if (Object.keys(shared).length > 0) losses.add(path, shared, 'told-of-all')
    return
  }
  for (const [field, value] of Object.entries(shared))
    if (own[field as keyof Made] === undefined) losses.add([...path, field], value, 'told-of-all')
    else if (own[field as keyof Made] !== value) losses.change([...path, field], value, 'told-of-all')
}

/** Every image in an answer is finished. */
function reportFinish(finish: Candidate['finish'], path: Path, losses: Losses): void {
  if (finish === undefined) losses.add([...path, 'finish'], { reason: 'stop' }, 'always-finished')
  else {
    if (finish.reason !== 'stop') losses.change([...path, 'finish', 'reason'], 'stop', 'always-finished')
    if (finish.stopSequence !== undefined) losses.drop([...path, 'finish', 'stopSequence'], 'no-stop-sequences')
  }
}

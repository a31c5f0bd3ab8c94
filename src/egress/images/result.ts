import type { Made } from '../../canonical/content.ts'
import { foreign, Losses, type Path, type Written } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { defined, kept, spelt } from '../fields.ts'
import { writeMade } from '../media/image-settings.ts'
import { isPicture, pictureless, startsFromPictures, writePicture } from './answer.ts'
import { FORMAT, typeOfWord, wordOfType } from './types.ts'
import { writeUsage } from './usage.ts'

const LOSSES = {
  id: 'no-ids',
  model: 'no-model-told',
  serviceTier: 'no-tiers',
  task: 'no-tasks',
  error: 'no-error-beside-an-answer',
}

/**
 * A whole answer (FORMATS §10): an entry for each picture.
 *
 * @throws GatewayError for an answer of another format without any picture: `invalid-request` where it was refused,
 * else `upstream-failed`, with what the model said.
 */
export function writeResult(result: CanonicalResult, asked: CanonicalRequest): Written<WireAnswer> {
  const losses = new Losses()
  losses.report(foreign(result, FORMAT))
  losses.dropFields(result, [], LOSSES)
  const own = spelt(result, FORMAT)
  const native = own['output_format'] !== undefined
  if (!native && !result.candidates.some(({ content }) => content.some(isPicture))) throw pictureless(result)
  const word = wordOf(result, own)
  const output_format = word ?? (native && own['output_format'] !== 'absent' ? own['output_format'] : undefined)
  const shared = { word, looks: looksOf(result) }
  const data = result.candidates.flatMap((candidate, index) =>
    writeCandidate(candidate, ['candidates', index], shared, native, losses),
  )
  const body = {
    created: result.createdAt ?? (own['created'] === 'absent' ? undefined : 0),
    data,
    ...shared.looks,
    ...defined({
      output_format,
      usage: result.usage && writeUsage(result.usage, losses, { native, wordsOnly: !startsFromPictures(asked) }),
    }),
    ...kept(result, FORMAT),
  }
  if (result.createdAt === undefined && own['created'] !== 'absent') losses.add(['createdAt'], 0, 'time-required')
  return { wire: { status: 200, headers: {}, body: defined(body) as JsonObject }, losses: losses.list }
}

/** One word for the kind of all pictures: that of the first; undefined where the upstream gave none, or no bytes. */
function wordOf({ candidates }: CanonicalResult, own: JsonObject): string | undefined {
  if (own['output_format'] === 'absent') return undefined
  const first = candidates
    .flatMap(({ content }) => content)
    .find(part => isPicture(part) && part.source.type === 'base64')
  if (first?.type !== 'media' || first.source.type !== 'base64') return undefined
  const said = own['output_format']
  if (typeof said === 'string' && typeOfWord(said) === first.source.mediaType) return said
  return wordOfType(first.source.mediaType)
}

/** What is told once, of all pictures. */
interface Shared {
  readonly word: string | undefined
  readonly looks: Omit<Made, 'prompt'>
}

/** The looks of all pictures: those of the first that tells them. */
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

/** What is lost of a picture; gives it as it is read back. */
function reportPicture(
  part: Candidate['content'][number] & { type: 'media' },
  path: Path,
  { word, looks }: Shared,
  losses: Losses,
): object {
  losses.dropFields(part, path, DETAILS)
  const made = { ...defined({ prompt: part.made?.prompt }), ...looks }
  reportLooks(part.made, made, [...path, 'made'], losses)
  const { source } = part
  if (source.type === 'url' && source.mediaType !== undefined)
    losses.drop([...path, 'source', 'mediaType'], 'no-media-type-of-addresses')
  if (source.type === 'base64' && word !== undefined && source.mediaType !== typeOfWord(word))
    losses.change([...path, 'source', 'mediaType'], typeOfWord(word), 'one-kind-for-all')
  const kept =
    source.type === 'url'
      ? { type: 'url', url: source.url }
      : { ...source, mediaType: word === undefined && source.type === 'base64' ? source.mediaType : typeOfWord(word!) }
  return { type: 'media', kind: 'image', source: kept, ...(Object.keys(made).length === 0 ? {} : { made }) }
}

/** Pictures that look otherwise, or do not tell, are taken to look like the first. */
function reportLooks(own: Made | undefined, told: Made, path: Path, losses: Losses): void {
  if (own === undefined) {
    if (Object.keys(told).length > 0) losses.add(path, told, 'told-of-all')
    return
  }
  for (const [word, said] of Object.entries(told))
    if (own[word as keyof Made] === undefined) losses.add([...path, word], said, 'told-of-all')
    else if (own[word as keyof Made] !== said) losses.change([...path, word], said, 'told-of-all')
}

/** Every picture that is there was finished. */
function reportFinish(finish: Candidate['finish'], path: Path, losses: Losses): void {
  if (finish === undefined) losses.add([...path, 'finish'], { reason: 'stop' }, 'always-finished')
  else {
    if (finish.reason !== 'stop') losses.change([...path, 'finish', 'reason'], 'stop', 'always-finished')
    if (finish.stopSequence !== undefined) losses.drop([...path, 'finish', 'stopSequence'], 'no-stop-sequences')
  }
}

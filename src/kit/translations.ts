import { GatewayError } from '../canonical/error.ts'
import type { Loss, Path } from '../canonical/loss.ts'
import type { Format } from '../canonical/node.ts'
import { Pace } from './pace.ts'
import { existing, valueAt } from './pointer.ts'
import { SourcePaths } from './source-paths.ts'
import type { SourceText } from './source-text.ts'
import { formatsFor, type WrittenText, writeInFormat } from './write-in-format.ts'

/** A loss with its paths in the two texts. */
export interface LocatedLoss {
  readonly loss: Loss
  /** Path in the original text or, for a stream, in the list of its events' data. */
  readonly from?: Path
  /** Reason why `from` is missing: the text has nothing there, or the search took too long. */
  readonly missing?: 'not-in-the-text' | 'not-found-in-time'
  /** Path in the translated text. */
  readonly to?: Path
}

/** A translation into one format, or the error that prevents it. */
export type TranslatedText =
  | { readonly text: string; readonly path?: string; readonly losses: readonly LocatedLoss[] }
  | { readonly error: string }

/** Time limit for the search for paths of losses, in milliseconds. */
const SEARCH_TIME_MS = 1500

/**
 * Translates a text into several formats, by default all that support the text, and finds the paths of the losses.
 * Yields to the event loop between steps.
 */
export async function translations(
  sourceText: SourceText,
  formats: readonly Format[] = formatsFor(sourceText).filter(format => format !== sourceText.format),
  time = SEARCH_TIME_MS,
): Promise<ReadonlyMap<Format, TranslatedText>> {
  const pace = new Pace(time)
  const sourcePaths = new SourcePaths(sourceText, pace)
  const all = new Map<Format, TranslatedText>()
  for (const format of formats) {
    await pace.step()
    all.set(format, await translateTo(sourceText, format, { pace, sourcePaths }))
  }
  return all
}

interface Search {
  readonly pace: Pace
  /** Searches the original text. All formats share its results. */
  readonly sourcePaths: SourcePaths
}

async function translateTo(sourceText: SourceText, format: Format, search: Search): Promise<TranslatedText> {
  let translation: WrittenText
  try {
    translation = await writeInFormat(sourceText, format, search.pace)
  } catch (thrown) {
    if (thrown instanceof GatewayError) return { error: thrown.error.message }
    throw thrown
  }
  const { text, path, losses } = translation
  await search.pace.step()
  const again = readAgain(translation)
  const translatedPaths = again === undefined ? undefined : new SourcePaths(again, search.pace)
  const located: LocatedLoss[] = []
  for (const loss of losses)
    located.push({
      loss,
      ...(await locateInSource(loss, sourceText, search)),
      ...(await locateInTranslation(loss, losses, again, translatedPaths)),
    })
  return { text, losses: located, ...(path === undefined ? {} : { path }) }
}

/**
 * Reads the translated text again. Returns undefined if the format cannot read it, because some answers are only
 * written for callers and never expected from upstreams.
 */
function readAgain(translation: WrittenText): SourceText | undefined {
  try {
    return translation.reread()
  } catch (thrown) {
    if (thrown instanceof GatewayError) return undefined
    throw thrown
  }
}

async function locateInSource(
  loss: Loss,
  sourceText: SourceText,
  { sourcePaths, pace }: Search,
): Promise<Pick<LocatedLoss, 'from' | 'missing'>> {
  if (sourceText.kind === 'request') return inRequest(loss, sourceText)
  // A value is inserted before an existing item or after the last one.
  const path = loss.kind === 'inserted' ? existing(sourceText.value, loss.path) : loss.path
  const from = await sourcePaths.find(path)
  if (from !== undefined) return { from }
  return { missing: pace.isOver ? 'not-found-in-time' : 'not-in-the-text' }
}

/**
 * Finds the path of a request's loss as the gateway's response header states it. The text contains neither added values
 * nor defaults that the caller left out.
 */
function inRequest(loss: Loss, sourceText: SourceText): Pick<LocatedLoss, 'from' | 'missing'> {
  const from = sourceText.bodyPath!(loss.path)
  const isInText = from.length > 0 && valueAt(sourceText.source, from) !== undefined
  return isInText ? { from } : { missing: 'not-in-the-text' }
}

async function locateInTranslation(
  loss: Loss,
  losses: readonly Loss[],
  again: SourceText | undefined,
  translatedPaths: SourcePaths | undefined,
): Promise<Pick<LocatedLoss, 'to'>> {
  if (loss.kind === 'dropped' || again === undefined) return {}
  const path = pathAfterLosses(loss.path, losses)
  if (path === undefined || valueAt(again.value, path) === undefined) return {}
  const to = await translatedPaths!.find(path)
  return to === undefined ? {} : { to }
}

/**
 * Maps a path in the original value to its path after `lose()`. Indexes shift down for dropped items before it and up
 * for inserted ones. Returns undefined for a dropped path.
 */
function pathAfterLosses(path: Path, losses: readonly Loss[]): Path | undefined {
  const result: (string | number)[] = []
  for (const [depth, step] of path.entries()) {
    if (typeof step !== 'number') {
      result.push(step)
      continue
    }
    const list = path.slice(0, depth)
    const lossesHere = losses.filter(loss => isBelow(loss, list))
    const isInsertion =
      depth === path.length - 1 && lossesHere.some(({ kind, path }) => kind === 'inserted' && path[depth] === step)
    const newIndex = indexAfter(step, lossesHere, depth, isInsertion)
    if (newIndex === undefined) return undefined
    result.push(newIndex)
  }
  return result
}

/** Returns true if the loss moves the list, or drops, changes or inserts one of its items. */
const isBelow = ({ path, kind }: Loss, list: Path): boolean =>
  path.length === list.length + (kind === 'moved' ? 0 : 1) && list.every((step, index) => step === path[index])

/** Maps one list index to its index after the losses, or to undefined if the item was dropped. */
function indexAfter(index: number, losses: readonly Loss[], depth: number, isInsertion: boolean): number | undefined {
  const order = losses.find(({ kind }) => kind === 'moved') as { readonly order: readonly number[] } | undefined
  const rank = (at: number): number => order?.order.indexOf(at) ?? at
  const dropped = losses.filter(({ kind }) => kind === 'dropped').map(({ path }) => Number(path[depth]))
  if (!isInsertion && dropped.includes(index)) return undefined
  const inserted = losses.filter(({ kind }) => kind === 'inserted').map(({ path }) => Number(path[depth]))
  const before = inserted.filter(at => (isInsertion ? at < index : at <= index)).length
  const base = isInsertion ? index : rank(index)
  return base - dropped.filter(at => rank(at) < base).length + before
}

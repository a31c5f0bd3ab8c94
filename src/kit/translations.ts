import { GatewayError } from '../canonical/error.ts'
import type { Loss, Path } from '../canonical/loss.ts'
import type { Format } from '../canonical/node.ts'
import { afterLosses } from './after-losses.ts'
import type { Given } from './given.ts'
import { formatsFor, type InFormat, inFormat } from './in-format.ts'
import { Origins } from './origins.ts'
import { Pace } from './pace.ts'
import { at, existing } from './pointer.ts'

/** A loss with its paths in the two texts. */
export interface PlacedLoss {
  readonly loss: Loss
  /** Path in the original text; for a stream, in the list of its events' data. */
  readonly from?: Path
  /** Why `from` is missing: the text has nothing there, or the search took too long. */
  readonly missing?: 'not-in-the-text' | 'not-found-in-time'
  /** Path in the translated text. */
  readonly to?: Path
}

/** A translation into one format, or the error if there is none. */
export type InOther =
  | { readonly text: string; readonly path?: string; readonly losses: readonly PlacedLoss[] }
  | { readonly error: string }

/** Milliseconds; time limit for the search for paths of losses. */
const TIME = 1500

/**
 * Translates a text into several formats, by default all that support it, and finds the paths of the losses. Yields to
 * the event loop between steps.
 */
export async function translations(
  given: Given,
  formats: readonly Format[] = formatsFor(given).filter(format => format !== given.format),
  time = TIME,
): Promise<ReadonlyMap<Format, InOther>> {
  const pace = new Pace(time)
  const origins = new Origins(given, pace)
  const all = new Map<Format, InOther>()
  for (const format of formats) {
    await pace.step()
    all.set(format, await one(given, format, { pace, origins }))
  }
  return all
}

interface Search {
  readonly pace: Pace
  /** Searches the original text; its results are shared by all formats. */
  readonly origins: Origins
}

async function one(given: Given, format: Format, search: Search): Promise<InOther> {
  let written: InFormat
  try {
    written = await inFormat(given, format, search.pace)
  } catch (thrown) {
    if (thrown instanceof GatewayError) return { error: thrown.error.message }
    throw thrown
  }
  const { text, path, losses } = written
  await search.pace.step()
  const again = readAgain(written)
  const places = again === undefined ? undefined : new Origins(again, search.pace)
  const placed: PlacedLoss[] = []
  for (const loss of losses)
    placed.push({ loss, ...(await placeFrom(loss, given, search)), ...(await placeTo(loss, losses, again, places)) })
  return { text, losses: placed, ...(path === undefined ? {} : { path }) }
}

/**
 * Reads the translated text again. Undefined if the format cannot read what it wrote, because it writes some answers
 * for callers that it does not expect from upstreams.
 */
function readAgain(written: InFormat): Given | undefined {
  try {
    return written.again()
  } catch (thrown) {
    if (thrown instanceof GatewayError) return undefined
    throw thrown
  }
}

async function placeFrom(
  loss: Loss,
  given: Given,
  { origins, pace }: Search,
): Promise<Pick<PlacedLoss, 'from' | 'missing'>> {
  if (given.kind === 'request') return inRequest(loss, given)
  // An inserted value comes before an existing item, or after the last.
  const path = loss.kind === 'inserted' ? existing(given.value, loss.path) : loss.path
  const from = await origins.find(path)
  if (from !== undefined) return { from }
  return { missing: pace.over ? 'not-found-in-time' : 'not-in-the-text' }
}

/**
 * Finds the path of a request's loss as the gateway's response header states it. Added values, and defaults that the
 * caller left out, are not in the text.
 */
function inRequest(loss: Loss, given: Given): Pick<PlacedLoss, 'from' | 'missing'> {
  const from = given.bodyPath!(loss.path)
  const isThere = from.length > 0 && at(given.source, from) !== undefined
  return isThere ? { from } : { missing: 'not-in-the-text' }
}

async function placeTo(
  loss: Loss,
  losses: readonly Loss[],
  again: Given | undefined,
  places: Origins | undefined,
): Promise<Pick<PlacedLoss, 'to'>> {
  if (loss.kind === 'dropped' || again === undefined) return {}
  const path = afterLosses(loss.path, losses)
  if (path === undefined || at(again.value, path) === undefined) return {}
  const to = await places!.find(path)
  return to === undefined ? {} : { to }
}

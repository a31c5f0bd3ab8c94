import { GatewayError } from '../canonical/error.ts'
import type { Loss, Path } from '../canonical/loss.ts'
import type { Format } from '../canonical/node.ts'
import { afterLosses } from './after-losses.ts'
import type { Given } from './given.ts'
import { formatsFor, type InFormat, inFormat } from './in-format.ts'
import { Origins } from './origins.ts'
import { Pace } from './pace.ts'
import { at, existing } from './pointer.ts'

/** A loss and where it shows. */
export interface PlacedLoss {
  readonly loss: Loss
  /** The place in the given text: of a stream, in the list of the data of its events. */
  readonly from?: Path
  /** Why there is no place in the given text: it has nothing there, or the search took too long. */
  readonly missing?: 'not-in-the-text' | 'not-found-in-time'
  /** The place in the written text. */
  readonly to?: Path
}

/** What a text is in one format, or why it has no place there. */
export type InOther =
  | { readonly text: string; readonly path?: string; readonly losses: readonly PlacedLoss[] }
  | { readonly error: string }

/** Milliseconds for the places of losses: what is not found by then has none. */
const TIME = 1500

/**
 * What was given in each of these formats, by default in all that have such a thing, with the places of the losses. Others have their turn
 * meanwhile.
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
  /** Finds places in the given text once for all formats. */
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

/** A format may write for its callers what it does not read of upstreams. */
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
  // What is inserted stands before an item, or behind the last.
  const path = loss.kind === 'inserted' ? existing(given.value, loss.path) : loss.path
  const from = await origins.find(path)
  if (from !== undefined) return { from }
  return { missing: pace.over ? 'not-found-in-time' : 'not-in-the-text' }
}

/** As the header of a request names it; what was added, or left out by the caller, is not in the text. */
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

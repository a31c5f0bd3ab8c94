import { getOrAdd } from '../../canonical/maps.ts'
import type { Format } from '../../canonical/node.ts'
import { Counts } from './counts.ts'
import { type Difference, differences } from './difference.ts'
import { type Entry, LazyEntry } from './entry.ts'
import { EntryIndex } from './entry-index.ts'
import type { FiledRecording } from './folder.ts'
import { type MatchKey, matchKey } from './match-key.ts'
import { matchesPartially } from './partial-match.ts'
import { modelOf, routeAt } from './read-request.ts'
import { type ArrivedRequest, recordedRequest, redactionFor } from './recorded-request.ts'
import { SessionLibrary } from './session-library.ts'

/** The recording nearest to a request that no recording matches. */
export interface Nearest {
  readonly file: string
  readonly differences: readonly Difference[]
}

/** The answer that a caller wants: its format, and whether it is a stream. */
export interface WantedAnswer {
  readonly format: Format | undefined
  readonly streams: boolean
}

/** Recordings with the same rules, by which a request is redacted before it is compared. */
interface Group {
  readonly redact: readonly string[]
  readonly ignore: readonly string[]
  /** Recordings by method, because requests of different methods never match. */
  readonly byMethod: Map<string, EntryIndex>
}

/** Finds the recordings that answer requests. Equal requests are answered in the order in which they were recorded. */
export class Library {
  private readonly groups = new Map<string, Group>()
  /** Positions of all entries in the order of recording. */
  private readonly positions = new Map<Entry, number>()
  private readonly servedCounts = new Counts()
  private readonly usedFiles = new Set<string>()

  /** Recorded WebSocket sessions. */
  readonly sessions: SessionLibrary
  private readonly ignore: readonly string[]

  /** @param ignore rules in addition to those of the recordings. */
  constructor(recordings: readonly FiledRecording[], ignore: readonly string[] = []) {
    this.ignore = ignore
    this.sessions = new SessionLibrary(ignore)
    for (const one of recordings) this.add(one)
  }

  /** Adds a recording after all others. */
  add(one: FiledRecording): void {
    const { answer, redact = [], ignore = [] } = one.recording
    if (answer === undefined) return this.sessions.add(one)
    const rules = [...new Set([...ignore, ...this.ignore])]
    const group = getOrAdd(this.groups, JSON.stringify([redact, rules]), () => ({
      ...{ redact, ignore: rules, byMethod: new Map<string, EntryIndex>() },
    }))
    const entry = new LazyEntry(one, answer, rules)
    this.positions.set(entry, this.positions.size)
    getOrAdd(group.byMethod, one.recording.request.method, () => new EntryIndex()).add(entry)
  }

  /** Files that no request has asked for. */
  get unused(): readonly string[] {
    return [...this.positions.keys()].flatMap(({ file }) => (this.usedFiles.has(file) ? [] : [file]))
  }

  /** Models requested in recordings, each with the format of the first recording that requests it. */
  get models(): ReadonlyMap<string, Format | undefined> {
    const models = new Map<string, Format | undefined>()
    for (const { recording } of this.positions.keys()) {
      const model = modelOf(recording.request)
      if (model !== undefined && !models.has(model)) models.set(model, routeAt(recording.request.path)?.route.format)
    }
    return models
  }

  /**
   * Finds the recording for a request: one with an equal request, otherwise one that matches partially. If there are
   * several, each answers once, and then the last one answers again.
   *
   * @param scope callers with the same scope share the order of equal requests.
   */
  async find(request: ArrivedRequest, wantedAnswer: WantedAnswer, scope = ''): Promise<Entry | Nearest | undefined> {
    const compared: ComparedGroup[] = []
    for (const { redact, ignore, byMethod } of this.groups.values()) {
      const index = byMethod.get(request.method)
      if (index === undefined) continue
      const key = matchKey(await recordedRequest(request, redactionFor(request, redact)), ignore)
      await index.update()
      compared.push({ index, key })
    }
    const matching = [bestOf, mostSpecificOf].map(find => find(compared, wantedAnswer)).find(({ length }) => length > 0)
    if (matching !== undefined) return this.next(this.inOrder(matching), scope)
    return nearestOf(compared.flatMap(({ index, key }) => index.all.map(entry => nearestAt(entry, key))))
  }

  /** Returns entries in the order in which they were recorded, because several groups may have some. */
  private inOrder(entries: readonly Entry[]): readonly Entry[] {
    return entries.toSorted((a, b) => this.positions.get(a)! - this.positions.get(b)!)
  }

  private next(matching: readonly Entry[], scope: string): Entry {
    const count = this.servedCounts.next(JSON.stringify([scope, matching[0]!.file]))
    const entry = matching[Math.min(count, matching.length - 1)]!
    this.usedFiles.add(entry.file)
    return entry
  }
}

/** Recordings of one group, and the request in the form in which it is compared with them. */
interface ComparedGroup {
  readonly index: EntryIndex
  readonly key: MatchKey
}

const nearestAt = ({ file, key: { form } }: Entry, requested: MatchKey): Nearest => ({
  file,
  differences: differences(form, requested.form),
})

/** Returns the recording with the fewest differences, or the first of several. */
const nearestOf = ([first, ...others]: readonly Nearest[]): Nearest | undefined =>
  first && others.reduce((best, one) => (one.differences.length < best.differences.length ? one : best), first)

/**
 * Returns recordings with an equal request, otherwise those with the same meaning in another format, in both cases only
 * the ones nearest to what the caller wants.
 */
function bestOf(compared: readonly ComparedGroup[], wantedAnswer: WantedAnswer): readonly Entry[] {
  const equal = compared.flatMap(({ index, key }) => index.equalTo(key))
  const sameMeaning = compared.flatMap(({ index, key }) =>
    index.sameMeaningAs(key).filter(({ format }) => format !== wantedAnswer.format),
  )
  const matching = equal.length > 0 ? equal : sameMeaning
  return lowestRanked(matching, one => formatRank(one, wantedAnswer))
}

/**
 * Returns the recordings that match a request partially by the most paths, and of these the ones nearest to the
 * caller's format.
 */
function mostSpecificOf(compared: readonly ComparedGroup[], wantedAnswer: WantedAnswer): readonly Entry[] {
  const matching = compared.flatMap(({ index, key }) =>
    index.partial.filter(
      ({ partial, key: own }) => partial !== undefined && own.work === key.work && matchesPartially(partial, key.form),
    ),
  )
  const specific = lowestRanked(matching, ({ partial }) => -partial!.values.length)
  return lowestRanked(specific, one => formatRank(one, wantedAnswer))
}

/**
 * Returns a rank that is lowest for the caller's format, and then for an answer that is streamed as the caller wants.
 */
const formatRank = (one: Entry, wantedAnswer: WantedAnswer): number =>
  Number(one.format !== wantedAnswer.format) * 2 + Number(one.streams !== wantedAnswer.streams)

/** Returns the entries with the lowest rank. */
function lowestRanked(entries: readonly Entry[], rank: (one: Entry) => number): readonly Entry[] {
  const best = Math.min(...entries.map(rank))
  return entries.filter(one => rank(one) === best)
}

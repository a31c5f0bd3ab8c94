import { getOrAdd } from '../../canonical/maps.ts'
import type { Format } from '../../canonical/node.ts'
import { type Difference, differences } from './difference.ts'
import type { FiledRecording } from './folder.ts'
import { type MatchKey, matchKey } from './match-key.ts'
import { readRequest } from './read-request.ts'
import { type ArrivedRequest, recordedRequest, redactionFor } from './recorded-request.ts'
import type { RecordedAnswer } from './recording.ts'
import { SessionLibrary } from './session-library.ts'

/** A recorded exchange that can answer requests. */
export interface Entry extends FiledRecording {
  readonly key: MatchKey
  readonly answer: RecordedAnswer
  readonly format: Format | undefined
  /** Whether the answer is a stream. */
  readonly streams: boolean
}

/** The recording nearest to a request that none matches. */
export interface Nearest {
  readonly file: string
  readonly differences: readonly Difference[]
}

/** A request of a caller: its format, and whether it wants a stream. */
export interface Wanted {
  readonly format: Format | undefined
  readonly streams: boolean
}

/** Recordings with the same rules; a request is redacted by these rules before it is compared. */
interface Group {
  readonly redact: readonly string[]
  readonly ignore: readonly string[]
  readonly entries: Entry[]
}

/** Finds the recordings that answer requests, equal requests in the order in which they were recorded. */
export class Library {
  private readonly groups = new Map<string, Group>()
  private readonly served = new Map<string, number>()
  private readonly used = new Set<string>()

  /** Recorded WebSocket sessions. */
  readonly sessions: SessionLibrary
  private readonly ignore: readonly string[]

  /** @param ignore rules in addition to those of the recordings. */
  constructor(filed: readonly FiledRecording[], ignore: readonly string[] = []) {
    this.ignore = ignore
    this.sessions = new SessionLibrary(ignore)
    for (const one of filed) this.add(one)
  }

  /** Adds a recording behind all others. */
  add(one: FiledRecording): void {
    const { answer, request, redact = [], ignore = [] } = one.recording
    if (answer === undefined) return this.sessions.add(one)
    const rules = [...new Set([...ignore, ...this.ignore])]
    const group = getOrAdd(this.groups, JSON.stringify([redact, rules]), () => ({
      ...{ redact, ignore: rules, entries: [] },
    }))
    const read = readRequest(request)
    const streams = read !== undefined && (read.streams || read.canonical.stream)
    group.entries.push({ ...one, key: matchKey(request, rules), answer, format: read?.route.format, streams })
  }

  /** Files that no request has asked for. */
  get unused(): readonly string[] {
    return [...this.groups.values()].flatMap(({ entries }) =>
      entries.flatMap(({ file }) => (this.used.has(file) ? [] : [file])),
    )
  }

  /** The models that recordings request. */
  get models(): readonly string[] {
    const entries = [...this.groups.values()].flatMap(group => group.entries)
    return [
      ...new Set(entries.flatMap(({ key: { form } }) => (typeof form['model'] === 'string' ? form['model'] : []))),
    ]
  }

  /**
   * Finds the recording for a request. After the last of several equal ones, the last answers again.
   *
   * @param scope callers of one scope share the order of equal requests.
   */
  async find(request: ArrivedRequest, wanted: Wanted, scope = ''): Promise<Entry | Nearest | undefined> {
    const missed: { readonly entries: readonly Entry[]; readonly key: MatchKey }[] = []
    for (const [rules, { redact, ignore, entries }] of this.groups) {
      const key = matchKey(await recordedRequest(request, redactionFor(request, redact)), ignore)
      const matching = bestOf(entries, key, wanted)
      if (matching.length > 0) return this.next(matching, JSON.stringify([scope, rules, matching[0]!.file]))
      missed.push({ entries, key })
    }
    return nearestOf(missed.flatMap(({ entries, key }) => entries.map(entry => nearestAt(entry, key))))
  }

  private next(matching: readonly Entry[], counter: string): Entry {
    const count = this.served.get(counter) ?? 0
    this.served.set(counter, count + 1)
    const entry = matching[Math.min(count, matching.length - 1)]!
    this.used.add(entry.file)
    return entry
  }
}

const nearestAt = ({ file, key: { form } }: Entry, requested: MatchKey): Nearest => ({
  file,
  differences: differences(form, requested.form),
})

/** The recording with the fewest differences, the first of several. */
const nearestOf = ([first, ...others]: readonly Nearest[]): Nearest | undefined =>
  first && others.reduce((best, one) => (one.differences.length < best.differences.length ? one : best), first)

/** Equal requests, otherwise those that say the same in another format; of these, the ones nearest to what is wanted. */
function bestOf(entries: readonly Entry[], key: MatchKey, wanted: Wanted): readonly Entry[] {
  const equal = entries.filter(one => one.key.digest === key.digest)
  const alike = entries.filter(
    one => one.format !== wanted.format && key.conversation !== undefined && one.key.conversation === key.conversation,
  )
  const matching = equal.length > 0 ? equal : alike
  const rank = (one: Entry): number => Number(one.format !== wanted.format) * 2 + Number(one.streams !== wanted.streams)
  const best = Math.min(...matching.map(rank))
  return matching.filter(one => rank(one) === best)
}

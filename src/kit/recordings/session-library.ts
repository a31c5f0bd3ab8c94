import { getOrAdd } from '../../canonical/maps.ts'
import type { FiledRecording } from './folder.ts'
import { type MatchKey, matchKey, withOptions } from './match-key.ts'
import { type ArrivedRequest, recordedRequest, redactionFor } from './recorded-request.ts'
import type { Redaction } from './redaction.ts'
import { SessionScript } from './session-script.ts'

/** A recorded session that may answer a caller, and the redaction of the caller's messages that the recorder used. */
export interface SessionCandidate {
  readonly script: SessionScript
  readonly redaction: Redaction
  readonly ignore: readonly string[]
}

/** Recorded WebSocket sessions. Equal sessions are replayed in the order in which they were recorded. */
export class SessionLibrary {
  private readonly recordings: FiledRecording[] = []
  private readonly usedFiles = new Set<string>()
  private readonly filesInUse = new Map<string, Set<string>>()
  private readonly ignore: readonly string[]

  constructor(ignore: readonly string[] = []) {
    this.ignore = ignore
  }

  add(one: FiledRecording): void {
    if (one.recording.session !== undefined) this.recordings.push(one)
  }

  /** Files that no session has used. */
  get unused(): readonly string[] {
    return this.recordings.flatMap(({ file }) => (this.usedFiles.has(file) ? [] : [file]))
  }

  get models(): readonly string[] {
    return this.recordings.flatMap(({ recording }) => recording.request.query?.['model'] ?? [])
  }

  /** Returns the sessions of an address, starting with those that the scope has not used yet. */
  async candidates(request: ArrivedRequest, scope: string): Promise<readonly SessionCandidate[]> {
    const inUse = this.filesInUse.get(scope)
    const equal: (SessionCandidate & { readonly key: MatchKey; readonly options: string | undefined })[] = []
    for (const one of this.recordings) {
      const { redact = [], ignore = [] } = one.recording
      const rules = [...ignore, ...this.ignore]
      const redaction = redactionFor(request, redact)
      const { digest, options } = matchKey(await recordedRequest(request, redaction), rules)
      const key = matchKey(one.recording.request, rules)
      if (digest === key.digest)
        equal.push({ script: new SessionScript(one, rules), redaction, ignore: rules, key, options })
    }
    const matching = withOptions(equal, equal[0]?.options)
    const isUsed = ({ script }: SessionCandidate): boolean => inUse?.has(script.file) === true
    return [...matching.filter(one => !isUsed(one)), ...matching.filter(isUsed).toReversed()]
  }

  /** Records that a scope follows a session. */
  take(file: string, scope: string): void {
    this.usedFiles.add(file)
    getOrAdd(this.filesInUse, scope, () => new Set<string>()).add(file)
  }

  /** Undoes `take`, because the scope follows another session after all. */
  giveBack(file: string, scope: string): void {
    this.usedFiles.delete(file)
    this.filesInUse.get(scope)?.delete(file)
  }
}

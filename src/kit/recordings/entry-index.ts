import { setImmediate as breath } from 'node:timers/promises'
import { getOrAdd } from '../../canonical/maps.ts'
import type { Entry } from './entry.ts'
import { type MatchKey, withOptions } from './match-key.ts'

/** Maximum time for which requests are read without a pause, in milliseconds. */
const MAX_BLOCKED_MS = 10

/** Recordings with the same rules and method, by their match keys. */
export class EntryIndex {
  readonly all: Entry[] = []
  private readonly byDigest = new Map<string, Entry[]>()
  private readonly byConversation = new Map<string, Entry[]>()
  private readonly partialEntries: Entry[] = []
  private indexed = 0

  add(entry: Entry): void {
    this.all.push(entry)
  }

  /** Reads the requests that were not read yet. Pauses in between, because reading a large folder takes seconds. */
  async update(): Promise<void> {
    let startedAt = performance.now()
    for (let entry = this.all[this.indexed]; entry !== undefined; entry = this.all[this.indexed]) {
      const { digest, conversation } = entry.key
      getOrAdd(this.byDigest, digest, (): Entry[] => []).push(entry)
      if (conversation !== undefined) getOrAdd(this.byConversation, conversation, (): Entry[] => []).push(entry)
      if (entry.partial !== undefined) this.partialEntries.push(entry)
      this.indexed++
      if (performance.now() - startedAt < MAX_BLOCKED_MS) continue
      await breath()
      startedAt = performance.now()
    }
  }

  /** Recordings that answer requests other than their own. */
  get partial(): readonly Entry[] {
    return this.partialEntries
  }

  /** Recordings with an equal request. */
  equalTo({ digest, options }: MatchKey): readonly Entry[] {
    return withOptions(this.byDigest.get(digest) ?? [], options)
  }

  /** Recordings whose request has the same meaning in another format. */
  sameMeaningAs({ conversation }: MatchKey): readonly Entry[] {
    return conversation === undefined ? [] : (this.byConversation.get(conversation) ?? [])
  }
}

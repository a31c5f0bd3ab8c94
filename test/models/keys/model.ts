/** One secret of a key. It is refused from `until` on, in Unix milliseconds. */
export interface Secret {
  readonly text: string
  readonly until: number
}

/** One key, as the administrators left it. */
export interface Key {
  readonly id: string
  readonly group: string
  readonly isEnabled: boolean
  readonly until: number
  readonly isRevoked: boolean
  readonly secrets: readonly Secret[]
}

/** All keys by id, and the groups that exist with the models that they allow. */
export interface State {
  readonly keys: ReadonlyMap<string, Key>
  readonly groups: ReadonlyMap<string, readonly string[]>
}

export const FOREVER = Number.POSITIVE_INFINITY

/** What a caller with a secret may do: the model that its group allows, or why it is refused. */
export function decisionOf({ keys, groups }: State, text: string, now: number): string {
  for (const { id, group, isEnabled, until, isRevoked, secrets } of keys.values()) {
    const secret = secrets.find(one => one.text === text)
    if (secret === undefined) continue
    const models = groups.get(group)
    if (isRevoked) return 'unknown'
    if (models === undefined) return 'no group'
    if (!isEnabled) return 'disabled'
    if (Math.min(until, secret.until) <= now) return 'expired'
    return `${id} in ${group}: ${models.join()}`
  }
  return 'unknown'
}

/**
 * Every state that the store ever had, and for each process the earliest one that it may still act upon: what it knows
 * never gets older.
 */
export class KeysModel {
  now = 1_000_000
  readonly states: State[] = [{ keys: new Map(), groups: new Map([['default', ['m', 'n']]]) }]
  readonly known: number[]
  /** Number of keys that were ever created. */
  count = 0

  constructor(processes: number) {
    this.known = Array.from({ length: processes }, () => 0)
  }

  get latest(): State {
    return this.states.at(-1)!
  }

  get texts(): readonly string[] {
    return [...this.latest.keys.values()].flatMap(({ secrets }) => secrets.map(({ text }) => text))
  }

  /** Returns the key that a number chooses among those that are not revoked. */
  chosen(which: number): Key | undefined {
    const keys = [...this.latest.keys.values()].filter(({ isRevoked }) => !isRevoked)
    return keys[which % Math.max(1, keys.length)]
  }

  putKey(key: Key): void {
    this.states.push({ ...this.latest, keys: new Map(this.latest.keys).set(key.id, key) })
  }

  putGroup(name: string, models: readonly string[] | undefined): void {
    const groups = new Map(this.latest.groups)
    if (models === undefined) groups.delete(name)
    else groups.set(name, models)
    this.states.push({ ...this.latest, groups })
  }

  /** Whether a process may decide like this now. It then knows the state by which it did. */
  allows(process: number, decisions: readonly string[]): boolean {
    const { states, known, texts, now } = this
    for (let state = known[process]!; state < states.length; state++) {
      if (!texts.every((text, index) => decisionOf(states[state]!, text, now) === decisions[index])) continue
      known[process] = state
      return true
    }
    return false
  }
}

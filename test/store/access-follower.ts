import type { AccessChanges, AccessRecords, KeyChange, StoredGroup, StoredKey } from '../../src/store/access-records.ts'

/** Builds the state of keys, groups and drained channels from changes alone. */
export class Follower {
  version = 0
  keys = new Map<string, StoredKey>()
  groups = new Map<string, StoredGroup>()
  drained: readonly string[] = []

  apply({ version, keys, groups, droppedGroups, drained, whole }: AccessChanges): void {
    if (whole === true) {
      this.keys.clear()
      this.groups.clear()
    }
    for (const key of keys) this.keys.set(key.id, key)
    for (const group of groups) this.groups.set(group.name, group)
    for (const name of droppedGroups) this.groups.delete(name)
    this.drained = drained ?? this.drained
    this.version = version
  }

  async follow(records: AccessRecords): Promise<void> {
    this.apply(await records.changes(this.version))
  }

  /** The whole state in a fixed order, without times of last use. */
  get state() {
    return {
      keys: [...this.keys.values()].map(({ lastUsedAt: _, ...key }) => key).sort((a, b) => (a.id < b.id ? -1 : 1)),
      groups: [...this.groups.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
      drained: [...this.drained].sort(),
    }
  }
}

/** One change of the stored state, as plain values. */
export type Change =
  | { readonly do: 'create'; readonly id: string; readonly name: string; readonly hash: string }
  | { readonly do: 'change'; readonly id: string; readonly change: KeyChange }
  | { readonly do: 'revoke'; readonly id: string }
  | { readonly do: 'rotate'; readonly id: string; readonly hash: string; readonly until: number }
  | { readonly do: 'keep' | 'drop'; readonly group: string; readonly models: readonly string[] }
  | { readonly do: 'drain'; readonly channel: string; readonly drained: boolean }
  | { readonly do: 'use'; readonly id: string; readonly at: number }

export const secretOf = (hash: string, createdAt = 0) => ({ hash, prefix: 'il-ab', lastFour: 'wxyz', createdAt })

export const keyOf = (id: string, more: Partial<StoredKey> = {}): StoredKey => ({
  ...{ id, name: id, group: 'default', createdAt: 5, limits: {}, enabled: true, secrets: [secretOf(`hash of ${id}`)] },
  ...more,
})

export const groupOf = (name: string, more: Partial<StoredGroup> = {}): StoredGroup => ({
  ...{ name, models: ['*'], limits: {}, onLoss: 'show', createdAt: 3 },
  ...more,
})

/** Applies a change to the repository. */
export async function make(records: AccessRecords, change: Change): Promise<void> {
  switch (change.do) {
    case 'create':
      await records.createKey(keyOf(change.id, { name: change.name, secrets: [secretOf(change.hash)] }))
      return
    case 'change':
      await records.changeKey(change.id, change.change)
      return
    case 'revoke':
      await records.revokeKey(change.id, 7)
      return
    case 'rotate':
      await records.rotateKey(change.id, secretOf(change.hash, 1), change.until)
      return
    case 'keep':
      return records.putGroup(groupOf(change.group, { models: change.models }))
    case 'drop':
      await records.dropGroup(change.group)
      return
    case 'drain':
      await records.drain(change.channel, change.drained)
      return
    case 'use':
      return records.recordUses(new Map([[change.id, change.at]]))
  }
}

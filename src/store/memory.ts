import type { Chain, FoundItem, Link, Turn, Turns } from './turns.ts'
import { outputOf } from './turns.ts'

/** The latest turns of one connection, held as long as it lasts; the oldest make room for new ones. */
export class MemoryTurns implements Turns {
  private readonly turns = new Map<string, Turn>()
  private readonly most: number

  /** @param most how many turns are held. */
  constructor(most = 64) {
    this.most = most
  }

  async find(owner: string, id: string): Promise<Turn | undefined> {
    const turn = this.turns.get(id)
    return turn?.owner === owner ? turn : undefined
  }

  async chain(owner: string, id: string): Promise<Chain | undefined> {
    const links: Link[] = []
    const seen = new Set<string>()
    let at: string | undefined = id
    while (at !== undefined && !seen.has(at)) {
      const turn = this.turns.get(at)
      if (turn?.owner !== owner) break
      seen.add(at)
      links.push(linkOf(turn))
      at = turn.previous
    }
    if (links.length === 0) return undefined
    return { links: links.reverse(), ...(at === undefined ? {} : { before: at }) }
  }

  async items(owner: string, ids: readonly string[]): Promise<ReadonlyMap<string, FoundItem>> {
    const wanted = new Set(ids)
    const found = new Map<string, FoundItem>()
    for (const turn of this.turns.values()) {
      if (turn.owner !== owner) continue
      for (const item of turn.input) if (wanted.has(item['id'] as string)) found.set(item['id'] as string, { item })
      const origin = originOf(turn)
      for (const item of outputOf(turn))
        if (wanted.has(item['id'] as string)) found.set(item['id'] as string, { item, ...origin })
    }
    return found
  }

  /** A connection has one owner, and what it forgets nobody else had. */
  async barred(): Promise<boolean> {
    return false
  }

  async keep(turn: Turn): Promise<void> {
    this.turns.delete(turn.id)
    this.turns.set(turn.id, turn)
    if (this.turns.size > this.most) this.turns.delete(this.turns.keys().next().value!)
  }

  async renew(owner: string, id: string, lease: number): Promise<boolean> {
    const turn = await this.find(owner, id)
    if (turn?.lease === undefined) return false
    this.turns.set(id, { ...turn, lease })
    return true
  }

  async drop(owner: string, id: string): Promise<boolean> {
    return (await this.find(owner, id)) !== undefined && this.turns.delete(id)
  }
}

const originOf = ({ channel, remembered }: Turn): Omit<FoundItem, 'item'> => ({
  ...(channel === undefined ? {} : { channel }),
  ...(remembered === undefined ? {} : { remembered }),
})

const linkOf = (turn: Turn): Link => ({
  items: [...turn.input, ...outputOf(turn)],
  ...(turn.channel === undefined ? {} : { channel: turn.channel }),
})

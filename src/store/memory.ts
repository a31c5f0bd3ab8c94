import { defined } from '../canonical/node.ts'
import { type Chain, type FoundItem, type Link, outputOf, type Turn, type Turns } from './turns.ts'

/** In-memory turns of one connection, dropped when it closes. The oldest turns are evicted to make room. */
export class MemoryTurns implements Turns {
  private readonly turns = new Map<string, Turn>()
  private readonly sizes = new Map<string, number>()
  private readonly maxTurns: number
  private readonly maxCharacters: number
  private size = 0

  /**
   * @param maxTurns maximum number of turns.
   * @param maxCharacters maximum number of characters of all turns together, as JSON.
   */
  constructor(maxTurns: number, maxCharacters: number) {
    this.maxTurns = maxTurns
    this.maxCharacters = maxCharacters
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
    const modelItems = new Set<string>()
    for (const turn of this.turns.values()) {
      if (turn.owner !== owner) continue
      for (const item of turn.input) {
        const id = item['id'] as string
        // An item that the caller sends again does not replace the model's item of the same id.
        if (wanted.has(id) && !modelItems.has(id)) found.set(id, { item })
      }
      for (const item of outputOf(turn)) {
        const id = item['id'] as string
        if (!wanted.has(id)) continue
        modelItems.add(id)
        found.set(id, { item, ...upstreamOf(turn) })
      }
    }
    return found
  }

  /** Always false, because a connection has a single owner and does not remember the ids of evicted turns. */
  async isForbidden(): Promise<boolean> {
    return false
  }

  async put(turn: Turn): Promise<void> {
    this.forget(turn.id)
    const size = sizeOf(turn)
    this.turns.set(turn.id, turn)
    this.sizes.set(turn.id, size)
    this.size += size
    while (this.turns.size > this.maxTurns || this.size > this.maxCharacters)
      this.forget(this.turns.keys().next().value!)
  }

  private forget(id: string): void {
    this.size -= this.sizes.get(id) ?? 0
    this.sizes.delete(id)
    this.turns.delete(id)
  }

  async advance(turn: Turn): Promise<boolean> {
    if ((await this.find(turn.owner, turn.id))?.lease === undefined) return false
    await this.put(turn)
    return true
  }

  async unfinished(ids: readonly string[]): Promise<ReadonlySet<string>> {
    return new Set(ids.filter(id => this.turns.get(id)?.lease !== undefined))
  }

  async renew(owner: string, id: string, lease: number): Promise<boolean> {
    const turn = await this.find(owner, id)
    if (turn?.lease === undefined) return false
    this.turns.set(id, { ...turn, lease })
    return true
  }

  async drop(owner: string, id: string): Promise<boolean> {
    if ((await this.find(owner, id)) === undefined) return false
    this.forget(id)
    return true
  }
}

const sizeOf = ({ input, response }: Turn): number => JSON.stringify(input).length + JSON.stringify(response).length

const upstreamOf = ({ channel, remembered }: Turn): Omit<FoundItem, 'item'> => defined({ channel, remembered })

const linkOf = (turn: Turn): Link => defined({ items: [...turn.input, ...outputOf(turn)], channel: turn.channel })

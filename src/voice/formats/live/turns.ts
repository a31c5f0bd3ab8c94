import { isAudio } from './client-writer.ts'
import type { Content } from './wire.ts'

/** Queue of unsent turns and their items. */
export class Turns {
  private list: { readonly item: string | undefined; readonly content: Content; readonly size: number }[] = []
  /** Length of all queued turns, in characters. */
  size = 0

  /** Number of queued turns with audio. */
  private withAudio = 0

  get hasAudio(): boolean {
    return this.withAudio > 0
  }

  get isEmpty(): boolean {
    return this.list.length === 0
  }

  add(item: string | undefined, content: Content): void {
    const { length: size } = JSON.stringify(content)
    this.list.push({ item, content, size })
    this.size += size
    if (content.parts.some(isAudio)) this.withAudio++
  }

  has(item: string): boolean {
    return this.list.some(one => one.item === item)
  }

  remove(item: string): void {
    this.list = this.list.filter(one => one.item !== item)
    this.size = this.list.reduce((sum, { size }) => sum + size, 0)
    this.withAudio = this.list.filter(({ content }) => content.parts.some(isAudio)).length
  }

  /** Ids of the items in all queued turns. */
  get items(): ReadonlySet<string | undefined> {
    return new Set(this.list.map(({ item }) => item))
  }

  take(): readonly Content[] {
    const turns = this.list.map(({ content }) => content)
    this.list = []
    this.size = 0
    this.withAudio = 0
    return turns
  }
}

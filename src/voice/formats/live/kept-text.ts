/** Characters; most text stored of one item, and of all items that the upstream created. */
const MOST_OF_ITEM = 256 * 1024
const MOST = 8 * 2 ** 20

/** Bounds the text stored of items that the upstream created, which serves retrieval and resumption. */
export class KeptText {
  private left = MOST

  /** Appends `more` to `text`, unless a limit would be exceeded. */
  grow(text: string, more: string): string {
    if (this.left < more.length || text.length + more.length > MOST_OF_ITEM) return text
    this.left -= more.length
    return text + more
  }
}

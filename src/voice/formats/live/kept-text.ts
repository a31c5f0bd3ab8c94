/** Characters of one item that are kept, and of all items that are not the client's. */
const MOST_OF_ITEM = 256 * 1024
const MOST = 8 * 2 ** 20

/** The text of items the upstream makes, kept to be retrieved and resumed with, within bounds. */
export class KeptText {
  private left = MOST

  /** The text with what follows, as far as there is room. */
  grow(text: string, more: string): string {
    if (this.left < more.length || text.length + more.length > MOST_OF_ITEM) return text
    this.left -= more.length
    return text + more
  }
}

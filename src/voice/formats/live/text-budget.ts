/** Maximum number of characters stored of one item, and of all items that the upstream created. */
const MAX_PER_ITEM = 256 * 1024
const MAX_TOTAL = 8 * 2 ** 20

/** Limits the text stored of items that the upstream created. The text serves retrieval and resumption. */
export class TextBudget {
  private remaining = MAX_TOTAL

  /** Appends `more` to `text`, unless a limit would be exceeded. */
  append(text: string, more: string): string {
    if (this.remaining < more.length || text.length + more.length > MAX_PER_ITEM) return text
    this.remaining -= more.length
    return text + more
  }
}

/** Maximum length of the text stored for one item that the upstream created, in characters. */
const MAX_PER_ITEM = 256 * 1024
/** Maximum length of the text stored for all items that the upstream created, in characters. */
const MAX_TOTAL = 8 * 2 ** 20

/**
 * Limits the stored text of items that the upstream created. The text is needed to retrieve items and to resume
 * sessions.
 */
export class TextBudget {
  private remaining = MAX_TOTAL

  /** Appends `more` to `text` unless this would exceed a limit. */
  append(text: string, more: string): string {
    return text.length + more.length <= MAX_PER_ITEM && this.spend(more.length) ? text + more : text
  }

  /** Takes a number of characters from the budget. Returns false if fewer remain. */
  spend(length: number): boolean {
    if (this.remaining < length) return false
    this.remaining -= length
    return true
  }
}

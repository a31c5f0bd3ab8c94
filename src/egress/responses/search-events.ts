import type { SearchResultPart } from '../../canonical/content.ts'
import type { PartPatch } from '../../canonical/event.ts'
import { patched } from '../../canonical/fold.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { isSearch, type SearchPart } from '../searches.ts'
import { type ItemContext, NO_OUTPUT, type PartWriter, SingleWriter } from './item-events.ts'
import { originalItem } from './items.ts'
import { belongsTo, searchId, writeSearch } from './search.ts'

/**
 * Writes a search, including its results if they follow. An item from an upstream of this format already contains both,
 * so the item ends with the search.
 */
export class SearchWriter extends SingleWriter {
  private readonly start: SearchPart
  private readonly isOriginal: boolean
  private result: SearchResultPart | undefined
  private hasEnded = false
  private isClosed = false

  constructor(part: SearchPart, context: ItemContext) {
    super(part, context)
    this.start = part
    this.isOriginal = originalItem(part) !== undefined
    this.added()
    if (this.isOriginal) return
    this.progress('in_progress')
    this.progress('searching')
  }

  delta(): void {}

  override end(): void {
    this.hasEnded = true
    if (this.isOriginal) this.close()
  }

  /** Ends the item, because no results follow. */
  close(): void {
    if (this.isClosed || !this.hasEnded) return
    this.isClosed = true
    if (!this.isOriginal) this.progress('completed')
    this.done('completed')
  }

  /** Writes everything that has ended. Results that were cut off are left out. */
  override cutShort(): void {
    if (this.hasEnded && !this.isClosed) {
      this.result = undefined
      this.close()
    }
    super.cutShort()
  }

  /** Returns true if the results belong to this search. */
  takes(result: SearchResultPart): boolean {
    return this.result === undefined && this.hasEnded && isSearch(this.part) && belongsTo(result, this.part)
  }

  /** Returns the writer of the results, which end the item. */
  resultWriter(result: SearchResultPart): PartWriter {
    this.result = result
    if (this.isOriginal) return NO_OUTPUT
    return {
      delta() {},
      patch: (late: PartPatch) => {
        this.result = patched(this.result!, late, true) as SearchResultPart
      },
      end: () => this.close(),
    }
  }

  /** Returns the item, with the queries known so far. */
  protected state(): JsonObject {
    const original = originalItem(this.part)
    if (original !== undefined) return original.item
    const stamp = { id: searchId(this.start), status: this.status }
    return isSearch(this.part) ? writeSearch(this.part, this.result, stamp) : {}
  }

  private progress(stage: string): void {
    const position = { item_id: searchId(this.start), output_index: this.index }
    this.context.events.emit(`response.web_search_call.${stage}`, position)
  }
}

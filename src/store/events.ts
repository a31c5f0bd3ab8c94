/** The events of unfinished responses, for any process that continues their streams. */
export interface Events {
  /**
   * Appends events, the first under that number. False where no process may work on the response any more: nothing
   * changes.
   */
  add(owner: string, id: string, first: number, texts: readonly string[]): Promise<boolean>
  /** The texts of the next events from that number on, in batches; empty where there are none (yet). */
  from(owner: string, id: string, number: number): Promise<readonly string[]>
  /** The number of events. */
  count(owner: string, id: string): Promise<number>
  /** Deletes them. */
  drop(owner: string, id: string): Promise<void>
}

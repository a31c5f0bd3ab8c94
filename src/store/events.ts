/** The events of responses in the making, for whoever takes up their streams, from wherever. */
export interface Events {
  /**
   * Adds events behind all others, the first under that number. False where nobody is to work on the response any more:
   * nothing changes.
   */
  add(owner: string, id: string, first: number, texts: readonly string[]): Promise<boolean>
  /** The texts of the next events from that number on, some of them at a time; empty where there are none (yet). */
  from(owner: string, id: string, number: number): Promise<readonly string[]>
  /** How many there are. */
  count(owner: string, id: string): Promise<number>
  /** Forgets them. */
  drop(owner: string, id: string): Promise<void>
}

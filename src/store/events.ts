/** Events to append to the events of a response. */
export interface NewEvents {
  /** Sequence number of the first event. */
  readonly first: number
  readonly texts: readonly string[]
}

/** Stream events of unfinished responses, stored so that any process can resume the stream. */
export interface Events {
  /**
   * Appends events. Returns false and stores nothing if the response has ended or was deleted.
   */
  add(owner: string, id: string, events: NewEvents): Promise<boolean>
  /** Returns the next batch of events, starting at `number`, or an empty batch if there are none yet. */
  from(owner: string, id: string, number: number): Promise<readonly string[]>
  /** Returns the number of stored events. */
  count(owner: string, id: string): Promise<number>
  /** Deletes all events of a response. */
  drop(owner: string, id: string): Promise<void>
}

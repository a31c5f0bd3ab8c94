/** Holds up those that wait for it while it is closed. */
export class Gate {
  private waiting: PromiseWithResolvers<void> | undefined

  close(): void {
    this.waiting ??= Promise.withResolvers()
  }

  open(): void {
    this.waiting?.resolve()
    this.waiting = undefined
  }

  /** Undefined while it is open. */
  get opened(): Promise<void> | undefined {
    return this.waiting?.promise
  }
}
